"""From a change in a real repository to a report, with the real selector and a scripted collection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relay.contract import ManifestText, NotTestedReason, SelectionReport, SelectOrder
from selector.manifests import Profile
from tests.workers.scripted_runner import ScriptedRunner, collected
from tests.workers.upstream import Upstream
from workers.checkout import Mirrors, checked_out
from workers.overlay import installed_wheel
from workers.runner.types import Collection
from workers.select_shard import SelectRun

FILE = "test/test_shapes.py"
SOURCE = """# Owner(s): ["module: tests"]
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestShapes(TestCase):
    def test_first(self, device):
        self.assertEqual(torch.ones(1, device=device).sum(), 1)

    def test_second(self, device):
        self.assertEqual(torch.ones(2, device=device).sum(), 2)


instantiate_device_type_tests(TestShapes, globals())
"""
EDITED = SOURCE.replace(".sum(), 2)", ".sum(), 2.0)")
MANIFEST = ManifestText(
    name="shapes.yaml",
    text="""\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_shapes.py
      unlisted_test_mode: mandatory_success
      tests:
        - names: [test_second]
          mode: xfail
""",
)
FIRST = collected(FILE, "TestShapes", "test_first")
SECOND = collected(FILE, "TestShapes", "test_second")
BOTH = {(side, FILE): Collection((*FIRST, *SECOND)) for side in ("head", "base")}

Select = Callable[..., SelectionReport | None]


@pytest.fixture
def select(upstream: Upstream, tmp_path: Path) -> Select:
    """Select for a change from `before` to `after`."""

    def run(
        before: dict[str, str],
        after: dict[str, str],
        collections: object = None,
        stop: bool = False,
        profile: Profile = Profile.COMPAT,
        **order: object,
    ) -> SelectionReport | None:
        base, head = upstream.commit(before), upstream.commit(after)
        runner = ScriptedRunner(collections=BOTH if collections is None else collections)  # type: ignore[arg-type]  # by name
        with checked_out(Mirrors(tmp_path / "m"), upstream.change(base, head), tmp_path / "shard") as checkout:
            select_run = SelectRun(checkout, runner, "spyre", None, lambda: stop, lambda word: None, profile)
            return select_run.report(SelectOrder.model_validate({"manifests": (MANIFEST,), **order}))

    return run


def test_an_edited_test_is_planned_with_its_expectation(select: Select) -> None:
    report = select({FILE: SOURCE}, {FILE: EDITED})
    assert report is not None
    assert report.not_tested is None
    assert SECOND[0].id in [test.id for test in report.planned]
    planned = {test.id: test for test in report.planned}[SECOND[0].id]
    assert (planned.expected.value, planned.provenance.split(":")[0]) == ("xfail", "shapes.yaml")
    kept = {decision.test for decision in report.decisions if decision.kept}
    assert planned.base in kept
    assert [test for shard in report.shards for test in shard] == [test.id for test in report.planned]
    assert [step.stage for step in report.funnel] == sorted(step.stage for step in report.funnel)
    assert len(report.tested_base_sha) == 40


def test_a_problem_with_the_manifests_is_a_note_of_the_run(select: Select) -> None:
    report = select({FILE: SOURCE}, {FILE: EDITED}, manifest_problem="a.yaml:3:1: bad; the last good set stays in use")
    assert report is not None
    assert report.notes[0] == "Manifests: a.yaml:3:1: bad; the last good set stays in use"


def test_a_change_of_documents_affects_nothing(select: Select) -> None:
    report = select({FILE: SOURCE, "docs/a.md": "1\n"}, {"docs/a.md": "2\n"})
    assert report is not None
    assert (report.state, report.planned, report.shards, report.not_tested) == ("nothing_affected", (), (), None)


def test_a_native_change_is_not_tested(select: Select) -> None:
    path = "aten/src/ATen/native/Shape.cpp"
    report = select({FILE: SOURCE, path: "int a = 1;\n"}, {path: "int a = 2;\n"})
    assert report is not None
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.NEEDS_BUILD
    assert path in report.not_tested.detail
    assert (report.planned, report.shards) == ((), ())
    assert [file.path for file in report.changed_files] == [path]


def test_a_tree_that_the_wheel_does_not_fit_is_skew(select: Select) -> None:
    path = "torch/functional.py"
    report = select({FILE: SOURCE, path: "a = 1\n"}, {path: "a = 2\n"})
    assert report is not None
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.SKEW
    assert path in report.not_tested.detail


def test_a_change_of_torch_is_collected_with_the_overlay(select: Select) -> None:
    shipped = (installed_wheel() / "torch/functional.py").read_text()
    report = select(
        {FILE: SOURCE, "torch/functional.py": shipped},
        {"torch/functional.py": shipped + "\n\ndef added():\n    return 1\n", FILE: EDITED},
    )
    assert report is not None
    assert report.not_tested is None
    assert SECOND[0].id in [test.id for test in report.planned]


@pytest.mark.parametrize(("profile", "mode"), [(Profile.COMPAT, "xfail"), (Profile.STRICT, "mandatory_success")])
def test_the_profile_decides_whether_class_names_in_manifests_count(
    select: Select, profile: Profile, mode: str
) -> None:
    manifest = MANIFEST.model_copy(update={"text": MANIFEST.text.replace("[test_second]", "[TestOther::test_second]")})
    report = select({FILE: SOURCE}, {FILE: EDITED}, profile=profile, manifests=(manifest,))
    assert report is not None
    planned = {test.id: test for test in report.planned}[SECOND[0].id]
    assert planned.expected.value == mode


def test_an_entry_for_another_kind_of_machine_does_not_apply(select: Select) -> None:
    text = MANIFEST.text + "          platforms: [no_such_machine]\n"
    report = select({FILE: SOURCE}, {FILE: EDITED}, manifests=(MANIFEST.model_copy(update={"text": text}),))
    assert report is not None
    assert {test.id: test for test in report.planned}[SECOND[0].id].expected.value == "mandatory_success"


def test_a_rerun_plans_the_asked_ids_and_says_so(select: Select) -> None:
    """Although the change itself touches the other test only."""
    report = select({FILE: SOURCE}, {FILE: EDITED}, only=(FIRST[0].id,))
    assert report is not None
    assert [test.id for test in report.planned] == [FIRST[0].id]
    (kept,) = [decision for decision in report.decisions if decision.kept]
    assert kept.test == str(FIRST[0].base_test)
    assert kept.reasons[-1].rule == "rerun requested"
    assert kept.test not in [decision.test for decision in report.decisions if not decision.kept]


def test_a_file_the_change_breaks_is_planned_to_be_seen_missing(select: Select) -> None:
    broken = {("head", FILE): Collection((), "NameError: gone"), ("base", FILE): BOTH["base", FILE]}
    report = select({FILE: SOURCE}, {FILE: EDITED}, broken)
    assert report is not None
    assert SECOND[0].id in [test.id for test in report.planned]
    assert any("NameError: gone" in note for note in report.notes)


def test_a_stop_leaves_no_report(select: Select) -> None:
    assert select({FILE: SOURCE}, {FILE: EDITED}, stop=True) is None
