"""What is wrong is said in a sentence with its place and the words that are allowed; unknown keys are warnings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from selector.manifests import ManifestSet

Refuse = Callable[[str], list[str]]
MODES = "'mandatory_success', 'xfail', 'xfail_strict' or 'skip'"


def test_a_bad_mode_names_the_modes_and_the_nearest(refuse: Refuse) -> None:
    assert refuse(
        """\
        test_suite_config:
          files:
            - path: ${TORCH_ROOT}/test/test_a.py
              unlisted_test_mode: xfial
        """
    ) == [f"m.yaml:4:27: `unlisted_test_mode` must be {MODES}, not 'xfial' (did you mean `xfail`?)"]


def test_all_findings_of_a_manifest_come_together_in_order(refuse: Refuse) -> None:
    assert refuse(
        """\
        test_suite_config:
          labels: unit
          files:
            - path: ${TORCH_ROOT}/test/test_a.py
              tests:
                - name: [test_a]
                - names: [7, "A::B::c"]
                  mode:
        """
    ) == [
        "m.yaml:2:11: `labels` must be a list, not 'unit'",
        "m.yaml:6:11: the key `names` is missing",
        "m.yaml:6:11: warning: unknown key 'name' (did you mean `names`?), ignored; "
        "known here: names, mode, tags, labels, no_grad, edits, reason, issue, owner, expires, platforms, isolate, "
        "timeout_s",
        "m.yaml:7:19: item 1 of `names` must be text, not 7; quote it",
        "m.yaml:7:22: item 2 of `names`: 'A::B::c': a name is `method` or `Class::method`, "
        "without a file and with no empty part",
        f"m.yaml:8:16: `mode` must be {MODES}, not null",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "m.yaml:1:1: the key `test_suite_config` is missing"),
        ("[]", "m.yaml:1:1: the manifest must be a mapping, not a list"),
        ("test_suite_config:", "m.yaml:1:19: `test_suite_config` must be a mapping, not null"),
        ("test_suite_config: {files: }", "m.yaml:1:28: `files` must be a list, not null"),
        ("test_suite_config: {files: [{}]}", "m.yaml:1:29: the key `path` is missing"),
        ("test_suite_config: {files: [], global: }", "m.yaml:1:40: `global` must be a mapping, not null"),
        (
            "test_suite_config: {files: [], global: {supported_dtypes: [float16]}}",
            "m.yaml:1:60: item 1 of `supported_dtypes` must be a mapping, not 'float16'",
        ),
        (
            "test_suite_config: {files: [], global: {supported_dtypes: [{name: float16, precision: {atol: loose}}]}}",
            "m.yaml:1:94: `atol` must be a number, not 'loose'",
        ),
        (
            "test_suite_config: {files: [], global: {input_config: {seed: abc}}}",
            "m.yaml:1:62: `seed` must be a whole number, not 'abc'",
        ),
        (
            "test_suite_config: {files: [], global: {supported_ops: [{force_xfail: true}]}}",
            "m.yaml:1:57: the key `name` is missing",
        ),
    ],
)
def test_a_wrong_type_or_a_missing_key_is_an_error(refuse: Refuse, text: str, expected: str) -> None:
    assert refuse(text) == [expected]


def test_a_dtype_outside_the_vocabulary_names_the_vocabulary(refuse: Refuse) -> None:
    (finding,) = refuse("test_suite_config: {files: [], global: {supported_dtypes: [{name: torch.float16}]}}")
    assert "`name` must be 'float16', 'float32'," in finding
    assert finding.endswith("not 'torch.float16' (did you mean `float16`?)")


@pytest.mark.parametrize("name", ["test_*[", "T::*", "T::test_(a", "A::", "::a", "", "f.py::A::a", "a" * 501])
def test_a_name_that_can_not_match_is_an_error(refuse: Refuse, name: str) -> None:
    text = f"test_suite_config: {{files: [{{path: /x.py, tests: [{{names: ['{name}']}}]}}]}}"
    (finding,) = refuse(text)
    assert finding.startswith("m.yaml:1:60: item 1 of `names`: ")


def test_a_glob_is_answered_with_how_patterns_are_written(refuse: Refuse) -> None:
    (finding,) = refuse("test_suite_config: {files: [{path: /x.py, tests: [{names: ['T::*']}]}]}")
    assert "patterns are regular expressions, not globs: write `.*` for any text" in finding


def test_unknown_keys_are_warnings_at_every_level(load: Callable[[str], ManifestSet]) -> None:
    manifests = load(
        """\
        x-shared: 1
        extra: 1
        test_suite_config:
          owner: nobody
          files:
            - path: ${TORCH_ROOT}/test/test_a.py
              unlisted_test_modes: skip
              tests:
                - names: test_a
                  tag: [one]
                  edits: {shapes: {}}
          global: {devices: [cpu], 3: x}
        """
    )
    assert [(finding.line, finding.message.partition(",")[0]) for finding in manifests.findings] == [
        (2, "unknown key 'extra'"),
        (4, "unknown key 'owner'"),
        (7, "unknown key 'unlisted_test_modes' (did you mean `unlisted_test_mode`?)"),
        (10, "unknown key 'tag' (did you mean `tags`?)"),
        (11, "unknown key 'shapes'"),
        (12, "unknown key 'devices'"),
        (12, "unknown key 3"),
    ]
    assert {finding.severity for finding in manifests.findings} == {"warning"}


def test_the_lax_types_of_the_original_are_accepted(load: Callable[[str], ManifestSet]) -> None:
    manifests = load(
        """\
        test_suite_config:
          files:
            - path: ${TORCH_ROOT}/test/test_a.py
              tests:
                - names: test_a
                  no_grad: "yes"
          global:
            supported_dtypes: [{name: float16, force_xfail: "true", precision: {atol: 1e-3, rtol: "0.5"}}]
            supported_ops: [add, {name: mul, dtypes: [{name: float16}]}]
        """
    )
    assert manifests.findings == ()
    rules = manifests.rules("test/test_a.py")
    assert rules is not None
    assert rules.device.xfail_dtypes == {"float16"}
    assert rules.device.ops is not None
    assert {name: op.dtypes for name, op in rules.device.ops.items()} == {"add": frozenset(), "mul": {"float16"}}


def sample(argument: str) -> str:
    return textwrap.dedent(f"""\
        test_suite_config:
          files:
            - path: ${{TORCH_ROOT}}/test/test_a.py
              tests:
                - names: test_a
                  edits: {{ops: {{include: [{{name: add, sample_inputs_func: {{args: [{argument}]}}}}]}}}}
        """)


@pytest.mark.parametrize(
    "argument",
    [
        "{tensor: {shape: [2, 0], dtype: torch.float16, init: randint, init_args: {high: 3}, stride: [1, 2]}}",
        "{tensor: {shape: [], dtype: half}}",
        "{tensor_list: [{shape: [3], dtype: int64, init: arange}]}",
        "{value: null}",
        "{py: '(Ellipsis, slice(None, -1), [inf, -nan, True])'}",
        "{cache: {cache_path: a.B, layer_idx: 0, key: {shape: [1], dtype: bool}, value: {shape: [1], dtype: bool}}}",
    ],
)
def test_inputs_in_the_documented_form_load(load: Callable[[str], ManifestSet], argument: str) -> None:
    assert load(sample(argument)).findings == ()


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("5", "item 1 of `args` must be a mapping, not 5"),
        ("{scalar: 5}", "item 1 of `args`: an argument needs one of the keys `tensor`, `tensor_list`"),
        ("{tensor: {dtype: bool}}", "the key `shape` is missing"),
        ("{tensor: {shape: [-1], dtype: bool}}", "item 1 of `shape` must be zero or more, not -1"),
        ("{tensor: {shape: [1], dtype: bool, layout: x}}", "unknown key 'layout'; a tensor takes only shape, dtype"),
        ("{tensor: {shape: [1], dtype: bool, init: randint}}", "`tensor`: `init: randint` needs `init_args.high`"),
        ("{tensor: {shape: [1], dtype: bool, init: full}}", "`tensor`: `init: full` needs `init_args.fill_value`"),
        ("{tensor: {shape: [2, 3], dtype: bool, init: eye}}", "`tensor`: `init: eye` needs a square shape"),
        ("{tensor: {shape: [2, 3], dtype: bool, init: arange}}", "`tensor`: `init: arange` needs a shape of one"),
        ("{tensor: {shape: [2], dtype: bool, init: xavier}}", "`tensor`: `init: xavier` needs a shape of at least"),
        ("{tensor: {shape: [2], dtype: bool, stride: []}}", "`tensor`: `stride` must have as many numbers as `shape`"),
        (
            "{tensor: {shape: [], dtype: bool, device_layout: {device_size: [1], stride_map: [], device_dtype: x}}}",
            "`device_layout`: `device_size` and `stride_map` must have the same length",
        ),
        ("{py: open('x')}", "`py`: \"open('x')\": only constants, tuples, lists"),
        ("{py: 'a.b'}", "`py`: 'a.b': only constants"),
        ("{py: '1 +'}", "`py`: '1 +': not a Python expression"),
    ],
)
def test_inputs_that_can_not_be_built_are_errors(refuse: Refuse, argument: str, expected: str) -> None:
    (finding,) = refuse(sample(argument))
    assert finding.startswith("m.yaml:6:")
    assert finding.split(": ", 1)[1].startswith(expected)
