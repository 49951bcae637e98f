"""The smallest edit that makes a base test required."""

from __future__ import annotations

import pytest

from selector.manifests import ManifestDocument
from selector.manifests.authoring.requiring import require
from selector.manifests.authoring.splicing import SpliceError

HEAD = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
      tests:
"""
FILE = "test/test_a.py"


def required(tests: str, *wanted: tuple[int, str]) -> str:
    text = require(ManifestDocument("m.yaml", HEAD + tests), [(FILE, entry, base) for entry, base in wanted])
    return text.removeprefix(HEAD)


def test_the_last_entry_goes_with_its_list() -> None:
    text = require(ManifestDocument("m.yaml", f"{HEAD}        - names: [a]\n          mode: xfail\n"), [(FILE, 0, "a")])
    assert text == HEAD.removesuffix("      tests:\n")


def test_an_entry_stays_when_another_name_would_have_a_say_without_it() -> None:
    other = "        - names: ['a.*']\n          mode: xfail\n"
    tests = "        - names: [a]\n          mode: xfail\n"
    assert required(tests + other, (0, "a")) == tests.replace("xfail", "mandatory_success") + other


def test_names_of_one_entry_leave_together() -> None:
    tests = "        - names: [T::a, b, c]\n          mode: xfail\n"
    assert required(tests, (0, "a"), (0, "c")) == "        - names: [b]\n          mode: xfail\n"


def test_what_the_entry_says_besides_is_said_of_the_new_one_too() -> None:
    tests = "        - names: [a, b]\n          mode: xfail\n          tags: [slow]\n          reason: old\n"
    assert required(tests, (0, "a")) == (
        tests.replace("[a, b]", "[b]")
        + "        - names:\n            - a\n          mode: mandatory_success\n          tags:\n            - slow\n"
    )


def test_an_alias_is_not_followed() -> None:
    tests = "        - names: &n [a, b]\n          mode: skip\n        - names: *n\n          mode: xfail\n"
    with pytest.raises(SpliceError, match="the names are an alias"):
        required(tests, (1, "a"))
