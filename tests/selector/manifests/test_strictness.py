"""The strict profile refuses what the framework loads and ignores, and says each thing once."""

from __future__ import annotations

import textwrap

import pytest

from selector.manifests import ManifestDocument, ManifestError, Profile, load_manifests

HEAD = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests:
"""


def strict_errors(text: str) -> list[str]:
    document = ManifestDocument("m.yaml", text)
    load_manifests([document])  # compat takes all of it
    try:
        load_manifests([document], profile=Profile.STRICT)
    except ManifestError as error:
        return [str(finding) for finding in error.findings]
    return []


def entries(text: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(text).strip("\n"), " " * 8) + "\n"


def call(argument: str) -> str:
    return entries(f"""
        - names: [test_a]
          edits:
            ops:
              include:
                - name: add
                  sample_inputs_func:
                    args: [{{value: 1}}, {argument}]
        """)


def test_unknown_keys_are_errors() -> None:
    (error,) = strict_errors(entries("- names: [test_a]\n  tag: [slow]"))
    assert error.startswith("m.yaml:7:11: unknown key 'tag' (did you mean `tags`?)")


def test_an_unknown_section_of_edits_is_an_error() -> None:
    (error,) = strict_errors(entries("- names: [test_a]\n  edits: {shapes: {include: []}}"))
    assert error.startswith("m.yaml:7:19: unknown key 'shapes'")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("test_suite_config: {files: []}", "m.yaml:1:28: `files` is empty, so this manifest says nothing"),
        (
            entries("- names: [test_a, 'T:: test_b']"),
            "m.yaml:6:27: a name with a blank at its start or end matches nothing",
        ),
        (
            entries("- names: [' T::test_b']"),
            "m.yaml:6:19: ' T::test_b': a class with a blank at its start or end matches none",
        ),
        (
            entries("- names: [test_a]").replace("TORCH_ROOT", "SOURCES"),
            "m.yaml:3:13: '${SOURCES}' is no token; a path knows ${TORCH_ROOT} and ${TORCH_DEVICE_ROOT}",
        ),
        (
            entries("- names: ['T(::test_b']"),
            "m.yaml:6:19: 'T(::test_b': the class is not a valid pattern (missing ), unterminated subpattern at "
            "position 1)",
        ),
        (call('{py: "(1,)", value: 3}'), "m.yaml:12:40: an argument is of one kind, not of `value` and `py`"),
        (call("{model_id: x, value: 3}"), "m.yaml:12:40: an argument is of one kind, not of `model_id` and `value`"),
    ],
)
def test_what_does_nothing_is_an_error(text: str, error: str) -> None:
    assert strict_errors(text) == [error]


@pytest.mark.parametrize("argument", ["{value: null}", "{module_path: a.B, config_path: c.D, module_kwargs: {}}"])
def test_an_argument_of_one_kind_is_taken(argument: str) -> None:
    assert strict_errors(call(argument)) == []


def test_odd_but_meant_stays_a_warning() -> None:
    text = entries("- names: [test_a]") + "  global: {supported_ops: []}\n"
    manifests = load_manifests([ManifestDocument("m.yaml", text)], profile=Profile.STRICT)
    assert manifests.rules("test/test_a.py") is not None
