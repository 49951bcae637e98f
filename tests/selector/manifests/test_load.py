"""Manifests load together or not at all; the first block about a file counts."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from selector.manifests import Finding, ManifestDocument, ManifestError, load_manifests

PLAIN = "test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/%s\n      unlisted_test_mode: %s\n"


def document(name: str, file: str = "test_a.py", mode: str = "skip") -> ManifestDocument:
    return ManifestDocument(name, PLAIN % (file, mode))


def test_files_are_relative_to_the_upstream_tree_and_normal() -> None:
    manifests = load_manifests([document("a.yaml", "nn/../test_a.py"), document("b.yaml", "./nn/test_b.py")])
    assert manifests.files() == {"test/test_a.py", "test/nn/test_b.py"}


def test_files_of_the_device_repository_are_kept_apart() -> None:
    text = "test_suite_config: {files: [{path: '${TORCH_DEVICE_ROOT}/tests/test_own.py'}]}"
    manifests = load_manifests([ManifestDocument("a.yaml", text)])
    assert manifests.files() == frozenset()
    assert [rules.path for rules in manifests.device_files] == ["${TORCH_DEVICE_ROOT}/tests/test_own.py"]


def test_one_bad_manifest_keeps_all_from_loading_and_all_findings_come() -> None:
    with pytest.raises(ManifestError) as caught:
        load_manifests([document("b.yaml"), document("c.yaml", mode="fail"), ManifestDocument("a.yaml", "{")])
    assert [(finding.file, finding.severity) for finding in caught.value.findings] == [
        ("a.yaml", "error"),
        ("c.yaml", "error"),
    ]
    assert str(caught.value).startswith("a.yaml:2:1: not valid YAML")


def test_the_message_of_the_error_is_short_however_many_findings_there_are() -> None:
    with pytest.raises(ManifestError) as caught:
        load_manifests([document(f"{n}.yaml", mode="fail") for n in range(5)])
    assert len(caught.value.findings) == 5
    assert str(caught.value).endswith("; and 2 more")


def test_a_file_in_two_manifests_is_ruled_by_the_first_by_name_with_a_warning() -> None:
    manifests = load_manifests([document("b.yaml", mode="xfail"), document("a.yaml", mode="skip")])
    rules = manifests.rules("test/test_a.py")
    assert rules is not None
    assert (rules.provenance, rules.unlisted) == ("a.yaml:3", "skip")
    assert [str(finding) for finding in manifests.findings] == [
        "b.yaml:3:13: warning: test/test_a.py is listed at a.yaml:3 already, which counts; this block is ignored"
    ]


def test_two_manifests_of_one_name_do_not_load() -> None:
    with pytest.raises(ManifestError, match="two manifests have this name"):
        load_manifests([document("a.yaml"), document("a.yaml", "test_b.py")])


def test_the_digest_depends_on_names_and_texts_and_not_on_the_order() -> None:
    one, two = document("a.yaml"), document("b.yaml", "test_b.py")
    digest = load_manifests([one, two]).digest
    assert len(digest) == 64
    assert load_manifests([two, one]).digest == digest
    assert load_manifests([one]).digest != digest
    assert load_manifests([one, ManifestDocument("c.yaml", two.text)]).digest != digest
    assert load_manifests([one, ManifestDocument("b.yaml", two.text + "# x\n")]).digest != digest


def test_a_file_that_no_manifest_lists_has_no_rules() -> None:
    assert load_manifests([document("a.yaml")]).rules("test/test_b.py") is None


VOCABULARY = [
    "test_suite_config", "files", "path", "tests", "names", "mode", "skip", "xfail", "labels", "tags", "global", "name",
    "supported_dtypes", "supported_ops", "edits", "dtypes", "ops", "include", "exclude", "float16", "precision", "<<",
    "sample_inputs_func", "args", "tensor", "shape", "py", "${TORCH_ROOT}/test/a.py",
]  # fmt: skip  # one word a line would be longer than the tests
WORDS = st.sampled_from(VOCABULARY)
SCALARS = WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4),
)
MARKS = st.sampled_from([": ", "\n", "  ", "- ", "[", "]", "{", "}", "&a ", "*a", "!!", '"', "'", "#", "|", "---\n"])


def loads_or_says_where(text: str) -> None:
    findings: tuple[Finding, ...] = ()
    try:
        load_manifests([ManifestDocument("m.yaml", text)])
    except ManifestError as error:
        findings = error.findings
        if not error.errors:
            pytest.fail("refused without an error")
    lines = len(text.splitlines()) + 1
    assert all(1 <= finding.line <= lines and finding.column >= 1 for finding in findings)
    assert all(finding.file == "m.yaml" and finding.message for finding in findings)


@given(st.text() | st.lists(WORDS | MARKS | st.text(max_size=3), max_size=40).map("".join))
def test_any_text_loads_or_is_refused_with_places(text: str) -> None:
    loads_or_says_where(text)


@given(VALUES, VALUES, VALUES)
def test_any_data_loads_or_is_refused_with_places(files: object, tests: object, device: object) -> None:
    block = {"path": "${TORCH_ROOT}/test/a.py", "tests": tests}
    for suite in (files, {"files": files}, {"files": [block]}, {"files": [block], "global": device}):
        loads_or_says_where(yaml.safe_dump({"test_suite_config": suite}))
