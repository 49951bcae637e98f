"""`relay manifest promote` shows a diff that git applies, or makes the change, and says what it rests on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, a_failure

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py   # café
      unlisted_test_mode: mandatory_success
      tests:
        - names: [TestA::test_known]
          mode: xfail
        - names: [TestA::test_young]
          mode: xfail"""
SUITE = """<testsuite timestamp="2026-08-0{day}T10:00:00+00:00" hostname="lab{machine}">
<testcase classname="test_a.TestASPYRE" name="test_known_spyre_int8"/>
{young}<testcase classname="test_a.TestASPYRE" name="test_bad_spyre_int8"><failure message="no sparse"/></testcase>
</testsuite>"""
YOUNG = '<testcase classname="test_a.TestASPYRE" name="test_young_spyre_int8"/>\n'
LINE = ("manifest", "promote", "m.yaml", "--from", "nightly", "--runs", "4")


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_bytes(MANIFEST.encode())
    Path("nightly").mkdir()
    for day in range(1, 6):
        suite = SUITE.format(day=day, machine=day % 2, young=YOUNG if day > 2 else "")
        Path(f"nightly/{day}.xml").write_text(suite, encoding="utf-8")


def test_a_dry_run_shows_a_diff_that_git_applies_and_its_evidence(relay: Relay) -> None:
    ended = relay(*LINE)
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "m.yaml:6: require test_known, which passed: 1 variant, 5 runs on 5 days (2026-08-01 to 2026-08-05), "
        "machines: lab0, lab1",
        "m.yaml:8: test_young waits: 3 of 4 runs of test_young_spyre_int8",
        "1 proposal, 1 waiting",
    ]
    assert Path("m.yaml").read_bytes() == MANIFEST.encode()
    applied = subprocess.run(["git", "apply", "-"], input=ended.out, text=True, check=False, capture_output=True)
    assert applied.stderr == ""
    assert Path("m.yaml").read_text(encoding="utf-8") == MANIFEST.replace(
        "        - names: [TestA::test_known]\n          mode: xfail\n", ""
    )


def test_write_makes_the_change_and_then_there_is_nothing_left(relay: Relay) -> None:
    ended = relay(*LINE, "--write")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.endswith("1 proposal, 1 waiting; written\n")
    assert "test_known" not in Path("m.yaml").read_text(encoding="utf-8")
    assert relay(*LINE, "--write").err.endswith("0 proposals, 1 waiting\n")


def test_json_tells_the_evidence_and_the_diff(relay: Relay) -> None:
    value = relay(*LINE, "--json").json
    assert isinstance(value, dict)
    (proposal,) = value["proposals"]
    assert (proposal["direction"], proposal["base"], proposal["evidence"]["days"]) == ("promote", "test_known", 5)
    assert [held["base"] for held in value["waiting"]] == ["test_young"]
    assert value["diff"].startswith("--- a/m.yaml\n+++ b/m.yaml\n")
    assert value["written"] is False


def test_a_demotion_needs_an_issue_and_writes_it(relay: Relay) -> None:
    assert "a demotion needs the issue that is to end it" in relay(*LINE, "--demote").err
    ended = relay(*LINE, "--demote", "--issue", "https://example.org/7", "--write")
    assert "m.yaml:3: expect a failure of test_bad, which failed: 1 variant, 5 runs" in ended.err
    assert (
        Path("m.yaml")
        .read_text(encoding="utf-8")
        .endswith(
            "        - names:\n            - TestA::test_bad\n          mode: xfail\n          reason: no sparse\n"
            "          issue: https://example.org/7\n"
        )
    )
    assert relay("manifest", "check", "m.yaml").code == 0


def test_results_without_a_date_are_counted_and_do_not_count(relay: Relay) -> None:
    for path in Path("nightly").iterdir():
        path.write_text(path.read_text().replace("timestamp", "stamp"))
    ended = relay(*LINE)
    assert ended.out == ""
    assert ended.err == "13 results without a date do not count\n0 proposals, 0 waiting\n"


def test_runs_of_the_relay_are_evidence_too(relay: Relay, service: StandIn) -> None:
    service.failures = [a_failure().model_copy(update={"verdict": None})]
    Path("m.yaml").write_text(MANIFEST.replace("test_a.py", "test_ops.py"), encoding="utf-8")
    line = ("manifest", "promote", "m.yaml", "--from-run", "1", "--from-run", "3", "--demote", "--issue", "#1")
    assert "expect a failure of test_relu" not in relay(*line).err
    assert "expect a failure of test_relu, which failed: 1 variant, 2 runs" in relay(*line, "--failures", "2").err
