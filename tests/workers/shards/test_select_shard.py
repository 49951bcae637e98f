"""From a change in a real repository to a report, with the real selector and a scripted collection."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from relay.contract import ManifestText, NotTestedReason, SelectionReport, SelectOrder
from selector.catalog import CatalogFile
from selector.manifests import Profile
from tests.workers.benches import a_bench
from tests.workers.scripted_runner import ScriptedRunner, collected
from tests.workers.small_upstream import Upstream
from workers.builds.native_build import NativeBuilds
from workers.environments.environment import EnvironmentProblemError, own_environment
from workers.runner.sandbox import Unconfined
from workers.runner.types import Collection
from workers.shards.select_shard import SelectRun
from workers.shards.tested_trees import TestedTrees
from workers.upstream.checkout import Checkout, Mirrors, checked_out
from workers.upstream.overlay import installed_wheel

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


def _listing_both() -> ManifestText:
    line = "    - path: ${TORCH_ROOT}/test/test_other.py\n      unlisted_test_mode: mandatory_success\n"
    return ManifestText(name="both.yaml", text=MANIFEST.text + line)


Files = Mapping[str, str | bytes | Path | None]


class Selecting:
    """Select for a change from one set of files to another."""

    def __init__(self, upstream: Upstream, folder: Path) -> None:
        self.upstream, self.folder = upstream, folder
        self.runner = ScriptedRunner(collections=BOTH)
        self.builds: NativeBuilds | None = None
        self.stop = False
        self.catalog: CatalogFile | None = None

    def __call__(
        self,
        before: Files,
        after: Files,
        collections: Mapping[tuple[str, str], Collection] | None = None,
        profile: Profile = Profile.COMPAT,
        **order: object,
    ) -> SelectionReport | None:
        base, head = self.upstream.commit(before), self.upstream.commit(after)
        self.runner.collections = BOTH if collections is None else collections
        change = self.upstream.change(base, head)
        with checked_out(Mirrors(self.folder / "m"), change, self.folder / "shard") as checkout:
            return self._report(checkout, profile, SelectOrder.model_validate({"manifests": (MANIFEST,), **order}))

    def _report(self, checkout: Checkout, profile: Profile, order: SelectOrder) -> SelectionReport | None:
        bench = a_bench(self.runner, builds=self.builds)
        choice = bench.choose(checkout)
        builds, environment = self.builds, choice.environment
        asked = builds.for_shard(checkout.mirror, environment, lambda: self.stop, lambda word: None) if builds else None
        with TestedTrees(checkout, choice.environment.wheel, asked) as trees:
            run = SelectRun(
                trees=trees,
                runner=self.runner,
                choice=choice,
                tested_on=bench.tested_on(choice.environment),
                device="spyre",
                llm=None,
                should_stop=lambda: self.stop,
                say=lambda word: None,
                profile=profile,
                catalog=self.catalog,
            )
            return run.report(order)


@pytest.fixture
def select(upstream: Upstream, tmp_path: Path) -> Selecting:
    return Selecting(upstream, tmp_path)


def test_an_edited_test_is_planned_with_its_expectation(select: Selecting) -> None:
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


def test_what_this_machine_has_read_before_changes_nothing_in_a_report(select: Selecting, tmp_path: Path) -> None:
    fresh = select({FILE: SOURCE}, {FILE: EDITED})
    notes: list[str] = []
    select.catalog = CatalogFile(tmp_path / "catalog", notes.append)
    again = [select({FILE: SOURCE}, {FILE: EDITED}) for _ in range(2)]
    assert fresh is not None
    assert [(report.decisions, report.funnel) for report in again if report] == [(fresh.decisions, fresh.funnel)] * 2
    assert (tmp_path / "catalog").is_file()
    assert notes == []


def test_everything_runs_when_it_is_asked_for_and_the_notes_say_why(select: Selecting) -> None:
    """Even for a change that affects nothing."""
    report = select({FILE: SOURCE, "docs/a.md": "1\n"}, {"docs/a.md": "2\n"}, full="label full", budget_s=0, holdout=1)
    assert report is not None
    assert report.state == "full"
    assert {test.id for test in report.planned} == {test.id for test in (*FIRST, *SECOND)}
    assert any("label full" in note for note in report.notes)
    assert (report.seconds_saved, report.expected_misses) == (0, 0)


def test_what_a_holdout_of_everything_adds_is_by_lot(select: Selecting) -> None:
    """And the report says what the plan costs."""
    other = {"test/test_other.py": SOURCE.replace("TestShapes", "TestOther")}
    report = select({FILE: SOURCE, **other}, {FILE: EDITED}, manifests=(_listing_both(),), holdout=1.0)
    assert report is not None
    assert {decision.test for decision in report.decisions if decision.by_lot} >= {
        "test/test_other.py::TestOther::test_first"
    }
    assert report.plan_key
    assert report.expected_seconds > 0


def test_a_rerun_of_single_tests_is_neither_cut_nor_drawn_for(select: Selecting) -> None:
    report = select({FILE: SOURCE}, {FILE: EDITED}, only=(SECOND[0].id,), holdout=1.0, budget_s=0)
    assert report is not None
    assert [test.id for test in report.planned] == [SECOND[0].id]
    assert not any(decision.by_lot for decision in report.decisions)
    assert report.expected_seconds == 0


def test_a_problem_with_the_manifests_is_a_note_of_the_run(select: Selecting) -> None:
    report = select({FILE: SOURCE}, {FILE: EDITED}, manifest_problem="a.yaml:3:1: bad; the last good set stays in use")
    assert report is not None
    assert report.notes[0] == "Manifests: a.yaml:3:1: bad; the last good set stays in use"


def test_a_change_of_documents_affects_nothing(select: Selecting) -> None:
    report = select({FILE: SOURCE, "docs/a.md": "1\n"}, {"docs/a.md": "2\n"})
    assert report is not None
    assert (report.state, report.planned, report.shards, report.not_tested) == ("nothing_affected", (), (), None)


def test_a_native_change_is_not_tested(select: Selecting) -> None:
    path = "aten/src/ATen/native/Shape.cpp"
    report = select({FILE: SOURCE, path: "int a = 1;\n"}, {path: "int a = 2;\n"})
    assert report is not None
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.NEEDS_BUILD
    assert path in report.not_tested.detail
    assert (report.planned, report.shards) == ((), ())
    assert [file.path for file in report.changed_files] == [path]


def test_a_tree_that_the_wheel_does_not_fit_is_skew(select: Selecting) -> None:
    path = "torch/functional.py"
    report = select({FILE: SOURCE, path: "a = 1\n"}, {path: "a = 2\n"})
    assert report is not None
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.SKEW
    assert path in report.not_tested.detail
    assert select.runner.probed == []


def of_torch() -> tuple[Files, Files]:
    """A change of torch and of a test."""
    shipped = (installed_wheel() / "torch/functional.py").read_text()
    changed = shipped + "\n\ndef added():\n    return 1\n"
    return {FILE: SOURCE, "torch/functional.py": shipped}, {"torch/functional.py": changed, FILE: EDITED}


def test_a_change_of_torch_is_collected_with_the_overlay(select: Selecting) -> None:
    report = select(*of_torch())
    assert report is not None
    assert report.not_tested is None
    assert SECOND[0].id in [test.id for test in report.planned]
    assert select.runner.probed == ["overlay-base"]


def test_torch_that_does_not_import_on_base_is_skew(select: Selecting) -> None:
    select.runner.problems = {"overlay-base": "ImportError: cannot import name 'newer' from 'torch._C'"}
    report = select(*of_torch())
    assert report is not None
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.SKEW
    assert "cannot import name 'newer'" in report.not_tested.detail
    assert report.planned == ()


def test_torch_that_does_not_import_on_head_alone_is_a_finding_of_the_change(select: Selecting) -> None:
    select.runner.problems = {"overlay-head": "SyntaxError"}
    report = select(*of_torch(), {("head", FILE): Collection((), "SyntaxError"), ("base", FILE): BOTH["base", FILE]})
    assert report is not None
    assert report.not_tested is None
    assert SECOND[0].id in [test.id for test in report.planned]


def test_a_torch_that_never_imports_is_a_fault_of_the_environment(select: Selecting) -> None:
    select.runner.problems = {"overlay-base": "OSError: libtorch", "wheel": "OSError: libtorch"}
    with pytest.raises(EnvironmentProblemError, match="torch of environment default cannot be imported: OSError"):
        select(*of_torch())


def test_the_plain_wheel_is_not_imported_beforehand(select: Selecting) -> None:
    select({FILE: SOURCE}, {FILE: EDITED})
    assert select.runner.probed == []


def test_nothing_is_imported_where_nothing_is_to_run(select: Selecting) -> None:
    """A docstring of torch."""
    shipped = (installed_wheel() / "torch/functional.py").read_text()
    report = select({FILE: SOURCE, "torch/functional.py": shipped}, {"torch/functional.py": shipped + "# more\n"})
    assert report is not None
    assert report.state == "nothing_affected"
    assert select.runner.probed == []


def test_the_report_says_what_answers_for_it(select: Selecting) -> None:
    report = select({FILE: SOURCE, "version.txt": "2.6.0a0\n"}, {FILE: EDITED})
    assert report is not None
    own = own_environment("compat")
    assert report.tested_on is not None
    assert (report.tested_on.name, report.tested_on.torch_version) == ("default", own.torch.version)
    assert (report.tested_on.torch_git_sha, report.tested_on.device_profile) == (own.torch.git_sha, "compat")
    assert report.tested_on.sandbox == "none: scripted"
    assert report.notes[0].startswith(f"Torch {own.torch.version} (")
    assert "The tree is of version 2.6.0" in report.notes[0]


NATIVE = "aten/src/ATen/native/Shape.cpp"
BUILD = """\
echo compiling $(cat aten/src/ATen/native/Shape.cpp)
grep -q broken aten/src/ATen/native/Shape.cpp && exit 1
mkdir "$RELAY_BUILD_OUTPUT/torch" && touch "$RELAY_BUILD_OUTPUT/torch/__init__.py"
echo "__version__ = '$VERSION'" > "$RELAY_BUILD_OUTPUT/torch/version.py"
"""


@pytest.fixture
def building(select: Selecting, tmp_path: Path) -> Selecting:
    """With a build command."""
    version = own_environment("compat").torch.version
    script = tmp_path / "build.sh"
    script.write_text(BUILD.replace("$VERSION", version))
    command = (shutil.which("sh") or "sh", str(script))
    select.builds = NativeBuilds(tmp_path / "builds", command, Unconfined(""), 60, 1 << 30)
    return select


def test_a_native_change_is_tested_with_what_the_build_command_makes_of_it(building: Selecting) -> None:
    report = building({FILE: SOURCE, NATIVE: "int a = 1;\n"}, {NATIVE: "int a = 2;\n", FILE: EDITED})
    assert report is not None
    assert report.not_tested is None
    assert SECOND[0].id in [test.id for test in report.planned]


@pytest.mark.parametrize(
    ("before", "sentence"),
    [("fine", "Base builds, so it is the change that breaks the build."), ("broken", "Base cannot be built either")],
)
def test_a_build_that_fails_says_whose_fault_it_is_and_how_it_ended(
    building: Selecting, before: str, sentence: str
) -> None:
    report = building({FILE: SOURCE, NATIVE: f"{before}\n"}, {NATIVE: "broken it is\n"})
    assert report is not None
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.NEEDS_BUILD
    for part in (NATIVE, sentence, "The build ended with 1.", "It ended with:\ncompiling broken it is"):
        assert part in report.not_tested.detail


def test_a_comment_in_what_generates_code_builds_nothing(building: Selecting) -> None:
    tool = "tools/autograd/gen.py"
    report = building({FILE: SOURCE, tool: "a = 1\n", NATIVE: "broken\n"}, {tool: "a = 1  # one\n", FILE: EDITED})
    assert report is not None
    assert report.not_tested is None


def test_a_stop_ends_the_build_too(building: Selecting) -> None:
    building.stop = True
    assert building({FILE: SOURCE, NATIVE: "int a = 1;\n"}, {NATIVE: "int a = 2;\n"}) is None


@pytest.mark.parametrize(("profile", "mode"), [(Profile.COMPAT, "xfail"), (Profile.STRICT, "mandatory_success")])
def test_the_profile_decides_whether_class_names_in_manifests_count(
    select: Selecting, profile: Profile, mode: str
) -> None:
    manifest = MANIFEST.model_copy(update={"text": MANIFEST.text.replace("[test_second]", "[TestOther::test_second]")})
    report = select({FILE: SOURCE}, {FILE: EDITED}, profile=profile, manifests=(manifest,))
    assert report is not None
    planned = {test.id: test for test in report.planned}[SECOND[0].id]
    assert planned.expected.value == mode


def test_an_entry_for_another_kind_of_machine_does_not_apply(select: Selecting) -> None:
    text = MANIFEST.text + "          platforms: [no_such_machine]\n"
    report = select({FILE: SOURCE}, {FILE: EDITED}, manifests=(MANIFEST.model_copy(update={"text": text}),))
    assert report is not None
    assert {test.id: test for test in report.planned}[SECOND[0].id].expected.value == "mandatory_success"


def test_a_rerun_plans_the_asked_ids_and_says_so(select: Selecting) -> None:
    """Although the change itself touches the other test only."""
    report = select({FILE: SOURCE}, {FILE: EDITED}, only=(FIRST[0].id,))
    assert report is not None
    assert [test.id for test in report.planned] == [FIRST[0].id]
    (kept,) = [decision for decision in report.decisions if decision.kept]
    assert kept.test == str(FIRST[0].base_test)
    assert kept.reasons[-1].rule == "rerun requested"
    assert kept.test not in [decision.test for decision in report.decisions if not decision.kept]


def test_the_tests_of_an_upgrade_are_asked_for_as_base_tests_of_one_commit(select: Selecting) -> None:
    """Without a change, on the release that they need."""
    asked = (str(FIRST[0].base_test), str(SECOND[0].base_test))
    report = select({FILE: SOURCE}, {}, only=asked, release="2.13")
    assert report is not None
    assert {test.id for test in report.planned} == {test.id for test in (*FIRST, *SECOND)}
    assert {decision.test for decision in report.decisions if decision.kept} == set(asked)
    assert {decision.reasons[-1].rule for decision in report.decisions if decision.kept} == {"upgrade"}
    assert any("upgrade report" in note for note in report.notes)


def test_tests_that_need_another_release_are_not_run_and_the_reason_says_what_to_do(select: Selecting) -> None:
    report = select({FILE: SOURCE}, {}, only=(str(FIRST[0].base_test),), release="2.99")
    assert report is not None
    assert report.planned == ()
    assert report.not_tested is not None
    assert report.not_tested.reason is NotTestedReason.SKEW
    assert "need torch 2.99" in report.not_tested.detail
    assert "relay env add" in report.not_tested.detail


def test_a_release_on_which_nothing_of_an_upgrade_can_be_collected_is_not_said_to_be_fine(select: Selecting) -> None:
    broken = {(side, FILE): Collection((), "No module named 'setuptools'") for side in ("head", "base")}
    report = select({FILE: SOURCE}, {}, broken, only=(str(FIRST[0].base_test),), release="2.13")
    assert report is not None
    assert report.not_tested is not None
    assert "None of the tests asked for runs on torch 2.13 here" in report.not_tested.detail
    assert "setuptools" in report.not_tested.detail


def test_a_file_the_change_breaks_is_planned_to_be_seen_missing(select: Selecting) -> None:
    broken = {("head", FILE): Collection((), "NameError: gone"), ("base", FILE): BOTH["base", FILE]}
    report = select({FILE: SOURCE}, {FILE: EDITED}, broken)
    assert report is not None
    assert SECOND[0].id in [test.id for test in report.planned]
    assert any("NameError: gone" in note for note in report.notes)


def test_a_stop_leaves_no_report(select: Selecting) -> None:
    select.stop = True
    assert select({FILE: SOURCE}, {FILE: EDITED}) is None
