"""One environment for a whole run: chosen once, found again by what it is, refused where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.benches import a_bench
from tests.workers.pythons import an_environment
from tests.workers.scripted_runner import ScriptedRunner
from tests.workers.small_upstream import Upstream
from workers.environments.environment import Environment, EnvironmentProblemError
from workers.upstream.checkout import Mirrors, checked_out
from workers.workbench import Bench

DEFAULT = an_environment("default", "2.13.0", "a" * 40)
NIGHTLY = an_environment("nightly", "2.13.1", "b" * 40)


def bench(*environments: Environment) -> Bench:
    return a_bench(ScriptedRunner(), environments)


def test_the_nearest_is_chosen(upstream: Upstream, tmp_path: Path) -> None:
    sha = upstream.commit({"version.txt": "2.13.1\n"})
    with checked_out(Mirrors(tmp_path / "m"), upstream.change(sha, sha), tmp_path / "shard") as checkout:
        assert bench(DEFAULT, NIGHTLY).choose(checkout).environment is NIGHTLY


def test_tests_that_need_a_release_run_in_its_environment_however_near_another_is(
    upstream: Upstream, tmp_path: Path
) -> None:
    """Where this machine has none of it, the nearest is chosen, for somebody to say so."""
    sha = upstream.commit({"version.txt": "2.13.0\n"})
    next_one = an_environment("next", "2.14.1+cpu", "d" * 40)
    both = bench(DEFAULT, next_one)
    with checked_out(Mirrors(tmp_path / "m"), upstream.change(sha, sha), tmp_path / "shard") as checkout:
        chosen = {release: both.choose(checkout, release).environment for release in ("2.14", "2.14.1", "2.14.2", "")}
    assert chosen == {"2.14": next_one, "2.14.1": next_one, "2.14.2": DEFAULT, "": DEFAULT}


def test_the_record_says_all_that_answers() -> None:
    told = bench().tested_on(NIGHTLY)
    assert told.model_dump() == {
        "name": "nightly", "torch_version": "2.13.1", "torch_git_sha": "b" * 40, "python_version": "3.11.7",
        "device_profile": "compat", "sandbox": "none: scripted",
    }  # fmt: skip


def test_a_later_shard_finds_the_environment_of_the_first() -> None:
    both = bench(DEFAULT, NIGHTLY)
    assert both.planned(both.tested_on(NIGHTLY)) is NIGHTLY


def test_another_workers_environment_may_have_another_name() -> None:
    """But the name decides between two that are alike."""
    renamed = an_environment("main", "2.13.1", "b" * 40)
    told = bench().tested_on(NIGHTLY)
    assert bench(DEFAULT, renamed).planned(told) is renamed
    assert bench(renamed, NIGHTLY).planned(told) is NIGHTLY


@pytest.mark.parametrize(
    "other",
    [
        an_environment("nightly", "2.13.2", "b" * 40),
        an_environment("nightly", "2.13.1", "c" * 40),
        an_environment("nightly", "2.13.1", "b" * 40, profile="spyre-2026-06"),
        an_environment("nightly", "2.13.1", "b" * 40, python_version="3.12.1"),
    ],
)
def test_an_environment_that_would_answer_otherwise_is_refused(other: Environment) -> None:
    with pytest.raises(EnvironmentProblemError, match=r"planned on torch 2\.13\.1 of environment nightly"):
        bench(DEFAULT, other).planned(bench().tested_on(NIGHTLY))
