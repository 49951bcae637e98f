"""The key of a plan, and that the plan follows from its inputs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from selector.cut import Cut
from selector.known import Known
from selector.pipeline import select
from selector.plan_key import model_digest, selector_digest
from selector.trees import DirectoryTree, GitTree, git_diff, tree_id_of
from selector.triage import OpenAiClient, RecordedClient
from selector.types import BaseTest, Candidate, Reason, Selection, Stage
from tests.selector.cut.ground import Recorded, listing
from tests.selector.upstream import HEADER, MemoryTree, Repository, source_of_class

BASE = {
    "torch/nn/linear.py": "def linear(x):\n    return x\n",
    "test/test_linear.py": HEADER + source_of_class("TestLinear", "test_linear: linear(device)", "test_near: device"),
    "test/test_far.py": HEADER + source_of_class("TestFar", *(f"test_far_{number}: device" for number in range(40))),
}
#: One selection in a process of its own, with everything that sets could disorder.
PROGRAM = """
import sys
from pathlib import Path
from selector.cut import Cut
from selector.pipeline import select
from selector.trees import GitTree, git_diff
repo, base, head = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with GitTree(repo, base) as before, GitTree(repo, head) as after:
    outcome = select(git_diff(repo, base, head), before, after, llm=None, manifests=None, cut=Cut(2.0, 0.3))
print(repr(outcome.selection))
"""


@pytest.fixture
def commits(repository: Repository) -> tuple[str, str]:
    changed = {"torch/nn/linear.py": "def linear(x):\n    return -x\n"}
    return repository.commit({**BASE}), repository.commit({**changed})


def selected(repository: Repository, commits: tuple[str, str], **more: object) -> Selection:
    base, head = commits
    arguments: dict[str, object] = {"llm": None, "manifests": None, **more}
    with GitTree(repository.path, base) as before, GitTree(repository.path, head) as after:
        diff = git_diff(repository.path, base, head)
        return select(diff, before, after, **arguments).selection  # type: ignore[arg-type]  # checked where they are given


def test_two_processes_give_the_same_bytes(repository: Repository, commits: tuple[str, str]) -> None:
    """Whatever order their sets have."""
    answers = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path.cwd())}
        command = [sys.executable, "-c", PROGRAM, str(repository.path), *commits]
        answers.append(subprocess.run(command, env=environment, capture_output=True, check=True, timeout=120).stdout)
    assert answers[0] == answers[1]
    assert b"holdout" in answers[0]


def test_every_input_has_its_part_in_the_key(repository: Repository, commits: tuple[str, str]) -> None:
    base, head = commits
    test = "test/test_linear.py::TestLinear::test_linear"
    keys = [
        selected(repository, commits).key,
        selected(repository, (head, base)).key,
        selected(repository, commits, title="Fix linear").key,
        selected(repository, commits, body="Fix linear").key,
        selected(repository, commits, manifests=listing("test/test_linear.py")).key,
        selected(repository, commits, manifests=listing("test/test_far.py")).key,
        selected(repository, commits, known=Known(durations=Recorded({test: 1.0}))).key,
        selected(repository, commits, known=Known(durations=Recorded({test: 2.0}))).key,
        selected(repository, commits, cut=Cut(budget_s=1.0)).key,
        selected(repository, commits, cut=Cut(holdout=0.1)).key,
        selected(repository, commits, cut=Cut(full="label")).key,
        selected(repository, commits, device="spyre").key,
        selected(repository, commits, llm=RecordedClient({})).key,
    ]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {64}
    assert selected(repository, commits).key == keys[0]


def test_what_a_model_said_is_an_input() -> None:
    model = RecordedClient({})

    def decided(score: float) -> tuple[Candidate, ...]:
        reason = Reason(Stage.TRIAGE, "model: run", "looks affected", score)
        return (Candidate(BaseTest("test/test_a.py", "T", "test_a"), (reason,)),)

    assert model_digest(None, decided(0.5)) == ""
    assert model_digest(model, decided(0.5)) == model_digest(model, decided(0.5)) != model_digest(model, decided(0.6))


def test_which_model_is_asked_is_an_input() -> None:
    """Its name counts, and not where it is: a relay in between changes nothing."""
    here, there, other = (
        OpenAiClient(f"http://{host}.invalid", name, "key", 1.0) for host, name in (("a", "m"), ("b", "m"), ("a", "n"))
    )
    assert model_digest(here, ()) == model_digest(there, ()) != model_digest(other, ())
    for client in (here, there, other):
        client.close()


def test_a_harmless_change_has_a_key_too(repository: Repository) -> None:
    commits = repository.commit({**BASE}), repository.commit({"README.md": "words\n"})
    plain, other = selected(repository, commits), selected(repository, commits, title="Words")
    assert plain.cost is None
    assert len({plain.key, other.key, ""}) == 3


def test_a_tree_without_an_id_counts_by_the_diff(
    repository: Repository, commits: tuple[str, str], tmp_path: Path
) -> None:
    diff = git_diff(repository.path, *commits)
    tree = MemoryTree(BASE)
    first = select(diff, tree, tree, llm=None, manifests=None).selection
    assert select(diff + "\n", tree, tree, llm=None, manifests=None).selection.key != first.key
    assert first.notes[-1] == "these trees have no git id, so the plan's key rests on the diff alone"
    assert tree_id_of(DirectoryTree(tmp_path)) is None


def test_the_id_of_a_tree_is_that_of_its_content(repository: Repository, commits: tuple[str, str]) -> None:
    """A commit and its tree are the same tree."""
    expected = repository.git("rev-parse", f"{commits[1]}^{{tree}}")
    with GitTree(repository.path, commits[1]) as commit, GitTree(repository.path, expected) as tree:
        assert tree_id_of(commit) == tree_id_of(tree) == expected


def test_the_selector_is_what_its_files_are() -> None:
    assert len(selector_digest()) == 64
