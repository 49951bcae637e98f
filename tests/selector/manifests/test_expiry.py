"""An excuse that has run out is told on the day after its last one, to those who ask with a day."""

from __future__ import annotations

from datetime import date

import pytest

from selector.manifests import ManifestDocument, Profile, load_manifests, resolve
from selector.manifests.lint import lint
from selector.types import CollectedTest, Mode

TEXT = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests:
        - names: [test_a]
          mode: %s
          expires: 2031-05-08
          owner: storage team
          issue: "#12"
"""
LAST, AFTER = date(2031, 5, 8), date(2031, 5, 9)
TEST = CollectedTest("test/test_a.py::TSPYRE::test_a_spyre", "test/test_a.py", "T", "test_a", "test_a_spyre")


def document(mode: str = "xfail") -> ManifestDocument:
    return ManifestDocument("m.yaml", TEXT % mode)


def test_an_entry_that_expired_is_a_warning_at_the_day() -> None:
    assert [str(finding) for finding in load_manifests([document()], today=AFTER).findings] == [
        "m.yaml:8:20: warning: `xfail` of this entry expired on 2031-05-08: run its tests, then renew the day or "
        "remove it; ask storage team, see #12"
    ]


@pytest.mark.parametrize(("today", "rules"), [(AFTER, {"expired-entry"}), (LAST, set()), (None, set())])
def test_a_check_with_a_day_finds_it_too(today: date | None, rules: set[str]) -> None:
    found = {finding.rule for finding in lint([document()], today=today)}
    assert found & {"expired-entry"} == rules


@pytest.mark.parametrize("today", [LAST, None])
def test_on_its_last_day_and_for_those_who_ask_without_one_it_holds(today: date | None) -> None:
    assert load_manifests([document()], today=today).findings == ()


@pytest.mark.parametrize("mode", ["xfail", "xfail_strict", "skip"])
def test_only_when_asked_and_only_strictly_does_an_excuse_end(mode: str) -> None:
    manifests = load_manifests([document(mode)])

    def found(profile: Profile, overdue: date | None) -> tuple[Mode, str]:
        (row,) = resolve(manifests, [TEST], profile=profile, device="spyre", overdue=overdue).rows
        return row.mode, row.rule

    held = (Mode(mode), "listed")
    assert found(Profile.STRICT, AFTER) == (Mode.MANDATORY_SUCCESS, "expired")
    assert found(Profile.STRICT, LAST) == held
    assert found(Profile.STRICT, None) == held
    assert found(Profile.COMPAT, AFTER) == held
