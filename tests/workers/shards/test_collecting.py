"""From kept base tests to generated ones, and files that do not import."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from selector.manifests import ManifestDocument, load_manifests
from selector.types import BaseTest, Candidate
from tests.workers.scripted_runner import BASE, HEAD, ScriptedRunner, collected
from workers.runner.types import Collection
from workers.shards.collecting import Collector

FILE = "test/test_a.py"
X = collected(FILE, "TestA", "test_x", "_spyre_float32", "_spyre_int64")
Y = collected(FILE, "TestA", "test_y")

MODEL = """
test_suite_config:
  files: []
  models:
    - {name: one, import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [float16, float32]}
"""
DESCRIBED = frozenset({BaseTest(FILE, "TestA", "test_x"), BaseTest(FILE, "TestA", "test_y")})


def collector(collections: dict[tuple[str, str], Collection], stop: Callable[[], bool] = lambda: False) -> Collector:
    runner = ScriptedRunner(collections=collections)
    return Collector(runner, HEAD, lambda: BASE, stop, lambda _: None)


def kept(*names: str) -> list[Candidate]:
    return [Candidate(BaseTest(FILE, "TestA", name)) for name in names]


def test_only_what_a_kept_base_test_generates_is_taken() -> None:
    found = collector({("head", FILE): Collection((*X, *Y))}).kept(kept("test_x"), DESCRIBED)
    assert found.tests == X
    assert found.notes == ()


def test_a_kept_base_test_that_generates_nothing_is_named() -> None:
    found = collector({("head", FILE): Collection(X)}).kept(kept("test_x", "test_cuda_only"), DESCRIBED)
    assert found.notes == ("1 kept base tests generate no test on this device: test/test_a.py::TestA::test_cuda_only.",)


def test_a_file_broken_by_the_change_is_planned_as_base_has_it() -> None:
    found = collector(
        {("head", FILE): Collection((), "ImportError: no\nname"), ("base", FILE): Collection((*X, *Y))}
    ).kept(kept("test_x"), DESCRIBED)
    assert found.tests == X
    assert "cannot be collected with the change, but can on base" in found.notes[0]
    assert "ImportError: no name" in found.notes[0]


def test_a_file_broken_on_both_sides_is_a_note() -> None:
    broken = Collection((), "ImportError: torchvision")
    found = collector({("head", FILE): broken, ("base", FILE): broken}).kept(kept("test_x"), DESCRIBED)
    assert found.tests == ()
    assert "neither with the change nor on base" in found.notes[0]
    assert "ImportError: torchvision" in found.notes[0]


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("ImportError: cannot import name 'newer' from 'torch.testing._internal.common_utils' (/x.py)", "newer"),
        ("ModuleNotFoundError: No module named 'torch.nn.newer'", "torch.nn.newer"),
        ("AttributeError: module 'torch' has no attribute 'float4'", "float4"),
        ("ModuleNotFoundError: No module named 'torchgen.newer'", "torchgen.newer"),
    ],
)
def test_a_name_that_torch_lacks_on_both_sides_is_said_to_be_skew(error: str, name: str) -> None:
    broken = Collection((), f"Traceback ...\n{error}")
    found = collector({("head", FILE): broken, ("base", FILE): broken}).kept(kept("test_x"), DESCRIBED)
    assert found.notes[0].startswith(f"{FILE} does not fit the installed torch (skew): it asks for {name}, which")
    assert error in found.notes[0]


@pytest.mark.parametrize("error", ["No module named 'torchvision'", "cannot import name 'x' from 'scipy'", "x" * 5000])
def test_what_others_lack_is_not_skew(error: str) -> None:
    broken = Collection((), error)
    found = collector({("head", FILE): broken, ("base", FILE): broken}).kept(kept("test_x"), DESCRIBED)
    assert "skew" not in found.notes[0]


def test_a_file_collected_in_part_is_run_in_part_and_said() -> None:
    found = collector({("head", FILE): Collection(X, "one class did not import")}).kept(kept("test_x"), DESCRIBED)
    assert found.tests == X
    assert "only in part: one class did not import" in found.notes[0]


def test_a_rerun_gets_all_variants_of_its_base_tests_and_names_what_is_gone() -> None:
    """The manifests judge variants together; the choice of ids comes after them."""
    found = collector({("head", FILE): Collection((*X, *Y))}).only([X[1].id, f"{FILE}::TestASPYRE::test_gone_spyre"])
    assert found.tests == X
    assert "1 of the tests asked for are not generated here" in found.notes[0]


def test_base_tests_are_asked_for_by_name_and_those_without_a_test_here_are_named() -> None:
    """As an upgrade does: it does not know what a device makes of them."""
    found = collector({("head", FILE): Collection((*X, *Y))}).only([str(X[0].base_test), f"{FILE}::TestA::test_gone"])
    assert found.tests == X
    assert found.notes == (f"1 of the tests asked for are not generated here: {FILE}::TestA::test_gone.",)


@pytest.mark.parametrize("suffix", ["_" + "x" * 1_000, "_\0", "_\ud800", "_" + "\N{GRINNING FACE}" * 600])
def test_a_test_that_cannot_be_recorded_costs_only_itself(suffix: str) -> None:
    """Upstream names tests after parameters; one odd name must not end the run."""
    odd = collected(FILE, "TestA", "test_x", suffix)
    found = collector({("head", FILE): Collection((*X, *odd))}).kept(kept("test_x"), DESCRIBED)
    assert found.tests == X
    assert found.notes == (f"1 tests of {FILE} have an id that cannot be recorded (its length, or its characters).",)


def test_a_stop_ends_it() -> None:
    assert collector({("head", FILE): Collection(X)}, lambda: True).kept(kept("test_x"), DESCRIBED).stopped


def test_the_rest_of_a_file_is_what_no_other_base_test_describes() -> None:
    """Made at import time, or in a file that does not parse: known only once it is collected."""
    made = collected(FILE, "TestMade", "test_z", "_spyre")
    rest = [Candidate(BaseTest(FILE, "", ""))]
    found = collector({("head", FILE): Collection((*X, *Y, *made))}).kept([*kept("test_x"), *rest], DESCRIBED)
    assert found.tests == (*X, *made)
    assert collector({("head", FILE): Collection((*X, *made))}).kept(rest, frozenset()).tests == (*X, *made)
    assert collector({("head", FILE): Collection(X)}).kept(rest, DESCRIBED).notes == ()


def test_the_tests_of_a_model_are_what_its_manifest_says_and_nothing_has_to_run() -> None:
    models = load_manifests([ManifestDocument("m.yaml", MODEL)]).models
    made = Collector(ScriptedRunner(), HEAD, lambda: BASE, lambda: False, lambda _: None, models=models)
    found = made.kept([Candidate(BaseTest("models/one", "", "logits"))], frozenset())
    assert [test.id for test in found.tests] == ["models/one::logits[float16]", "models/one::logits[float32]"]
    gone = made.kept([Candidate(BaseTest("models/gone", "", "logits"))], frozenset())
    assert (gone.tests, len(gone.notes)) == ((), 1)
