"""What loads and does not do what its author must have meant is a warning at its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from selector.manifests import ManifestSet

Load = Callable[[str], ManifestSet]
LoadEntries = Callable[..., ManifestSet]


def warnings(manifests: ManifestSet) -> list[str]:
    return [str(finding) for finding in manifests.findings]


def test_a_manifest_without_files_says_nothing(load: Load) -> None:
    assert warnings(load("test_suite_config: {files: []}")) == [
        "m.yaml:1:28: warning: `files` is empty, so this manifest says nothing"
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("test/test_a.py", "starts with neither ${TORCH_ROOT}/ nor ${TORCH_DEVICE_ROOT}/"),
        (
            "$TORCH_ROOT/test/test_a.py",
            "'$TORCH_ROOT' is no token; a path knows ${TORCH_ROOT} and ",
        ),
        ("${PYTORCH_ROOT}/test/test_a.py", "'${PYTORCH_ROOT}' is no token"),
        ("${TORCH_ROOT}/test/test_*.py", "are not expanded"),
        ("${TORCH_ROOT}/../other/test_a.py", "leaves the upstream tree"),
    ],
)
def test_a_path_that_names_no_file_is_a_warning(load: Load, path: str, expected: str) -> None:
    (finding,) = warnings(load(f"test_suite_config:\n  files:\n    - path: {path}\n"))
    assert finding.startswith("m.yaml:3:13: warning: ")
    assert expected in finding


def test_an_empty_operator_list_filters_nothing(load: Load) -> None:
    text = "test_suite_config:\n  files: [{path: /x.py}]\n  global: {supported_ops: []}\n"
    assert warnings(load(text)) == ["m.yaml:3:27: warning: an empty `supported_ops` filters nothing; leave the key out"]


def test_names_that_match_nothing_are_warnings(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: []\n- names: ['T:: test_a']\n")
    assert warnings(manifests) == [
        "m.yaml:7:18: warning: `names` is empty, so this entry matches nothing",
        "m.yaml:8:19: warning: a name with a blank at its start or end matches nothing",
    ]


def test_a_method_listed_for_a_second_class_is_a_warning(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [A::test_a]\n- names: [B::test_a]\n  mode: skip\n")
    assert warnings(manifests) == [
        "m.yaml:8:19: warning: `test_a` is listed in line 7 already, as mandatory_success, which decides: "
        "class names are not compared"
    ]


@pytest.mark.parametrize(
    ("tests", "rule"),
    [
        ("- names: [A::test_a, A::test_a]", "duplicate-name"),
        ("- names: [A::test_a, B::test_a]", "duplicate-name"),
        ("- names: [A::test_a]\n- names: [B::test_a]", "duplicate-name"),
        ("- names: [A::test_a]\n- names: [B::test_a]\n  mode: xfail", "class-conflict"),
        ("- names: [A::test_a]\n- names: [A::test_a]\n  mode: xfail", "shadowed-entry"),
        ("- names: [A::test_a]\n- names: [A::test_a]\n  tags: [slow]", "shadowed-entry"),
    ],
)
def test_a_method_listed_twice_is_told_apart_by_what_is_lost(load_entries: LoadEntries, tests: str, rule: str) -> None:
    assert [finding.rule for finding in load_entries(tests).findings] == [rule]


def test_an_entry_is_reached_by_the_dtypes_that_earlier_ones_leave(load_entries: LoadEntries) -> None:
    first = "- names: [test_a]\n  edits: {dtypes: {include: [{name: float16}]}}\n"
    later = first.replace("float16", "int8") + "  mode: skip\n"
    ceiling = "supported_dtypes: [{name: float16}]"
    assert load_entries(first + later).findings == ()
    assert load_entries(first + "- names: [test_a]\n  mode: skip\n").findings == ()
    (finding,) = load_entries(first + "- names: [test_a]\n  mode: skip\n", ceiling).findings
    assert finding.rule == "shadowed-entry"


def test_entries_that_share_a_method_by_dtype_are_no_warning(load_entries: LoadEntries) -> None:
    manifests = load_entries(
        """
        - names: [A::test_a]
          edits: {dtypes: {include: [{name: float16}]}}
        - names: [A::test_a]
          mode: skip
        """
    )
    assert warnings(manifests) == []
