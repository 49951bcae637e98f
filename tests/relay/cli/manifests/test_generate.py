"""`relay manifest generate` writes a manifest that `relay manifest check` has nothing to say about."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.contract import Attempt, Observation, Tree
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_failure

JUNIT = """<testsuite timestamp="2026-08-01T10:00:00+00:00" hostname="lab1">
<testcase classname="test_a.TestThingsPRIVATEUSE1" name="test_good_spyre_float32" time="0.1"/>
<testcase classname="test_a.TestThingsPRIVATEUSE1" name="test_bad_spyre_float32" time="0.1">
  <failure message="RuntimeError: no sparse\x1b[31m tensors"/></testcase>
<testcase classname="test_b.TestMoreSPYRE" name="test_bad_spyre" time="0.1"><failure message="no"/></testcase>
</testsuite>""".replace("\x1b", " ")


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r").mkdir()
    Path("r/one.xml").write_text(JUNIT, encoding="utf-8")


def test_a_generated_manifest_passes_the_check(relay: Relay) -> None:
    ended = relay("manifest", "generate", "--from", "r", "--device", "spyre", "--output", "made.yaml")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        "the base names of 3 tests were cut out of generated names; give --upstream to be certain of them",
        "3 tests in 2 files: 2 new entries",
    ]
    checked = relay("manifest", "check", "made.yaml")
    assert (checked.code, checked.out) == (0, "")


def test_it_goes_to_stdout_and_can_be_limited_to_files(relay: Relay) -> None:
    ended = relay("manifest", "generate", "--from", "r/one.xml", "--file", "test/test_a.py", "--label", "unit")
    assert ended.out.startswith("test_suite_config:\n  labels:\n    - unit\n  files:\n")
    assert "TestThings::test_bad\n          mode: xfail\n          reason: 'RuntimeError: no sparse" in ended.out
    assert "test_b.py" not in ended.out


def test_json_holds_the_manifest_and_what_it_can_not_say(relay: Relay) -> None:
    value = relay("manifest", "generate", "--from", "r", "--json").json
    assert isinstance(value, dict)
    assert (value["entries"], value["notes"]) == (2, [])
    assert value["manifest"].startswith("test_suite_config:\n")


def test_base_names_come_from_the_upstream_tree(relay: Relay) -> None:
    Path("up/test").mkdir(parents=True)
    Path("up/test/test_a.py").write_text("class TestThings:\n def test_bad(self): ...\n def test_good(self): ...\n")
    Path("up/test/test_b.py").write_text("class TestMore:\n def test_bad(self): ...\n")
    ended = relay("manifest", "generate", "--from", "r", "--upstream", "up")
    assert ended.err == "3 tests in 2 files: 2 new entries\n"


def test_runs_of_the_relay_are_read_page_by_page(relay: Relay, service: StandIn) -> None:
    service.failures = [a_failure().model_copy(update={"verdict": None})]
    ended = relay("manifest", "generate", "--from-run", "1", "--from-run", "3")
    assert "TestOps::test_relu\n          mode: xfail\n" in ended.out
    assert ended.err == "1 test in 1 file: 1 new entry\n"


def test_a_test_that_fails_with_the_change_only_is_not_expected_to_fail(relay: Relay, service: StandIn) -> None:
    on_base = Attempt(tree=Tree.BASE, number=1, observation=Observation.PASSED, duration_s=0.1)
    row = a_failure()
    service.failures = [row.model_copy(update={"verdict": None, "attempts": (*row.attempts, on_base)})]
    assert "xfail" not in relay("manifest", "generate", "--from-run", "1").out


EXISTING = """\
test_suite_config:
  files:   # ours
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
"""


def test_an_existing_manifest_is_extended_in_place_with_its_comments(relay: Relay) -> None:
    Path("m.yaml").write_text(EXISTING, encoding="utf-8")
    line = ("manifest", "generate", "--from", "r", "--existing", "m.yaml", "--output", "m.yaml")
    assert relay(*line).code == 0
    after = Path("m.yaml").read_text(encoding="utf-8")
    assert after.startswith(EXISTING + "      tests:\n        - names:\n            - TestThings::test_bad\n")
    assert "    - path: ${TORCH_ROOT}/test/test_b.py\n" in after
    assert relay(*line).err.endswith("3 tests in 2 files: 0 new entries\n")
    assert Path("m.yaml").read_text(encoding="utf-8") == after


def test_an_issue_that_no_manifest_takes_is_refused_before_anything_else(relay: Relay) -> None:
    ended = relay("manifest", "generate", "--from", "r", "--issue", "soon")
    assert (ended.code, ended.out) == (2, "")
    assert "write a link, `owner/repository#12` or `#12`" in ended.err


def test_an_existing_manifest_that_does_not_load_or_is_in_brackets_is_named(relay: Relay) -> None:
    Path("m.yaml").write_text(EXISTING + "      tests: 3\n", encoding="utf-8")
    assert "`tests` must be a list" in relay("manifest", "generate", "--from", "r", "--existing", "m.yaml").err
    Path("m.yaml").write_text(EXISTING + "      tests: []\n", encoding="utf-8")
    assert "m.yaml:5 is left as it is" in relay("manifest", "generate", "--from", "r", "--existing", "m.yaml").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "there are no results to work from"),
        (("--from", "nowhere"), "there is no file or folder nowhere"),
        (("--from", "empty"), "empty holds no *.xml or *.json file"),
        (("--from", "text.txt"), "text.txt is neither JUnit XML nor JSON"),
        (("--from", "bomb.xml"), "bomb.xml declares a document type or entities"),
        (("--from", "r", "--file", "test/test_c.py"), "the results say nothing about any test"),
        (("--from", "r", "--output", "text.txt"), "text.txt exists already"),
        (("--from", "r", "--upstream", "nowhere"), "there is no upstream tree nowhere"),
    ],
    ids=str,
)
def test_what_can_not_be_done_is_one_sentence(relay: Relay, arguments: tuple[str, ...], message: str) -> None:
    Path("empty").mkdir()
    Path("text.txt").write_text("hello")
    Path("bomb.xml").write_text('<!DOCTYPE x [<!ENTITY a "aaa">]><testsuite>&a;</testsuite>')
    ended = relay("manifest", "generate", *arguments)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"error: {message}")
    assert ended.err.count("\n") == 2
