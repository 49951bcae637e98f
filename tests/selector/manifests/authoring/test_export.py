"""The exported call leaves out what the table skips, says what it can not, and is one that PyTorch takes."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from selector.manifests import ManifestSet
from selector.manifests.authoring.export import TestConfigs, export
from selector.manifests.profiles import Profile
from selector.manifests.resolution import resolve
from selector.types import CollectedTest, Mode
from tests.selector.manifests.conftest import LoadEntries

FILE = "test/test_things.py"


def collected(base: str, op: str | None = None, dtype: str | None = None, cls: str = "TestT") -> CollectedTest:
    parts = [base, *([op.replace(".", "_")] if op else []), "spyre", *([dtype] if dtype else [])]
    method = "_".join(parts)
    return CollectedTest(f"{FILE}::{cls}SPYRE::{method}", FILE, cls, base, method, op, dtype)


def exported(manifests: ManifestSet, *tests: CollectedTest, by_dtype: bool = False) -> TestConfigs:
    table = resolve(manifests, tests, profile=Profile.COMPAT, device="spyre")
    return export(tests, table, manifests, by_dtype=by_dtype)


def test_whole_methods_are_excluded_by_class(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [TestT::test_a]\n  mode: skip", unlisted="mandatory_success")
    configs = exported(manifests, collected("test_a", dtype="int8"), collected("test_a"), collected("test_b"))
    assert (configs.operators, configs.exclusions, configs.notes) == (None, {"TestT": {"test_a": ()}}, ())
    assert "    test_exclusions={\n        'TestT': [\n            'test_a',\n        ],\n    },\n" in configs.python()


def test_single_dtypes_are_excluded_only_on_request(load_entries: LoadEntries) -> None:
    entries = "- names: [test_a]\n  edits: {dtypes: {exclude: [{name: int8}]}}\n- names: [test_b]\n  mode: skip"
    manifests = load_entries(entries, unlisted="mandatory_success")
    tests = [collected("test_a", dtype="int8"), collected("test_a", dtype="float32"), collected("test_b", dtype="bool")]
    plain = exported(manifests, *tests)
    assert plain.exclusions == {"TestT": {"test_b": ()}}
    assert plain.notes == (
        "1 skipped by `dtype_excluded` would run: neither a whole method nor an operator stands for them",
    )
    precise = exported(manifests, *tests, by_dtype=True)
    assert (precise.exclusions, precise.notes) == ({"TestT": {"test_a": ("int8",), "test_b": ("bool",)}}, ())
    assert "'test_a': {\"dtypes\": [torch.int8]},\n" in precise.python()


def test_operators_become_one_allow_list_with_their_variants(load_entries: LoadEntries) -> None:
    manifests = load_entries("[]", supported="supported_ops: [div, abs]", unlisted="mandatory_success")
    tests = [collected("test_a", op, "float32") for op in ("div.floor_rounding", "div", "svd")]
    configs = exported(manifests, *tests)
    assert (configs.operators, configs.notes) == (("abs", "div", "div.floor_rounding"), ())
    assert [configs.generates(test) for test in tests] == [True, True, False]


def test_an_operator_that_one_test_keeps_and_another_may_not_run_is_said(load_entries: LoadEntries) -> None:
    manifests = load_entries("[]", supported="supported_ops: [abs]", unlisted="mandatory_success")
    kept = collected("test_only_svd", "svd", "float32")  # its list would be empty, so the manifest filters nothing
    configs = exported(manifests, kept, collected("test_a", "svd", "float32"), collected("test_a", "abs", "float32"))
    assert configs.notes == ("1 that should run would not be generated: the operator allow-list is one for all tests",)


def test_what_only_the_runner_knows_is_counted(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_a]\n  mode: xfail\n  tags: [slow]")
    assert exported(manifests, collected("test_a"), collected("test_b")).notes == (
        "1 are left out because they are unlisted: tests that upstream adds later will run",
        "1 are expected to fail, which only the relay's runner knows",
        "1 have tags, which only the relay's runner knows",
    )


def test_pytorch_takes_the_call(load_entries: LoadEntries) -> None:
    entries = "- names: [test_a]\n  edits: {dtypes: {exclude: [{name: int8}]}}"
    manifests = load_entries(entries, supported="supported_ops: [abs]", unlisted="mandatory_success")
    tests = [collected("test_a", "abs", "int8"), collected("test_a", "abs", "bool"), collected("test_b", "svd", "bool")]
    more = [collected("test_b", "abs", "bool")]
    code = exported(manifests, *tests, *more, by_dtype=True).python("made here")
    shown = "print(PrivateUse1TestBase.op_allowlist, PrivateUse1TestBase.test_exclusions)"
    done = subprocess.run([sys.executable, "-c", code + shown], capture_output=True, text=True, check=False)
    assert done.stdout == "['abs'] {'TestT': {'test_a': {'dtypes': [torch.int8]}}}\n", done.stderr


MODES = ("mandatory_success", "xfail", "skip")
TESTS = st.builds(
    collected,
    st.sampled_from(["test_a", "test_b"]),
    st.sampled_from([None, "abs", "div.floor", "svd"]),
    st.sampled_from([None, "int8", "float32"]),
    st.sampled_from(["TestT", "TestU"]),
)


@settings(max_examples=60)
@given(
    st.lists(TESTS, min_size=1, max_size=10, unique_by=lambda test: test.id),
    st.sampled_from(MODES),
    st.sampled_from(MODES),
    st.booleans(),
    st.sampled_from(["", "supported_ops: [abs, div]"]),
)
def test_the_call_generates_what_may_run_unless_it_says_so(
    tests: list[CollectedTest], listed: str, unlisted: str, by_dtype: bool, supported: str
) -> None:
    from selector.manifests import ManifestDocument, load_manifests

    entries = f"tests: [{{names: [test_a], mode: {listed}, edits: {{dtypes: {{exclude: [{{name: int8}}]}}}}}}]"
    block = f"{{path: '${{TORCH_ROOT}}/{FILE}', unlisted_test_mode: {unlisted}, {entries}}}"
    text = f"test_suite_config: {{files: [{block}], global: {{{supported}}}}}"
    manifests = load_manifests([ManifestDocument("m.yaml", text)])
    table = resolve(manifests, tests, profile=Profile.COMPAT, device="spyre")
    configs = export(tests, table, manifests, by_dtype=by_dtype)
    wrong = [test for test in tests if configs.generates(test) is (table.by_id[test.id].mode is Mode.SKIP)]
    said = sum(int(note.split()[0]) for note in configs.notes if "would run" in note or "would not" in note)
    assert len(wrong) == said
