"""Every rule finds what it is for, at its place and with its id, and nothing in a manifest that is right."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from relay.manifests import manifest_files
from selector.manifests import ManifestDocument
from selector.manifests.findings import Finding
from selector.manifests.lint import RULES, lint
from selector.trees import DirectoryTree

GOOD = """\
test_suite_config:
  labels: [unit, trunk]
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests:
        - names: [TestA::test_one, "test_p.*"]
          labels: [trunk]
        - names: [TestA::test_two]
          mode: xfail
          edits: {ops: {exclude: [{name: add}]}}
  global:
    supported_dtypes: [{name: float16, precision: {atol: 0.001}}]
    supported_ops: [add, nn.functional.gelu]
"""
ENTRY = '        - names: [TestA::test_one, "test_p.*"]\n          labels: [trunk]\n'
MODEL = "- names: [test_m]\n  edits: {ops: {include: [{name: add, sample_inputs_func: {args: [%s]}%s}]}}"

WHOLE_MODEL = """\
  models:
    - {name: one, import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [half], uses: {}}
""".replace("half", "float16")


def entry(text: str) -> str:
    """The good manifest with another first entry, in lines 7 and following."""
    return GOOD.replace(ENTRY, textwrap.indent(text, " " * 8) + "\n")


def model(argument: str = "{value: 1}", more: str = "") -> str:
    """A model-operator entry, in a file of the device's repository."""
    return entry(MODEL % (argument, more)).replace("TORCH_ROOT", "TORCH_DEVICE_ROOT")


#: rule -> a manifest that breaks it once and no other rule, and the line.
BREAKS: dict[str, tuple[str, int]] = {
    "yaml-syntax": ("a: [", 2),
    "unsafe-yaml": ("a: !!set {b}", 1),
    "schema": (GOOD.replace("mode: xfail", "mode: fail"), 10),
    "invalid-name": (entry("- names: [TestA::test_(]"), 7),
    "no-files": ("test_suite_config: {files: []}", 1),
    "unknown-section": (entry("- names: [test_one]\n  edits: {shapes: {}}"), 8),
    "padded-name": (entry("- names: [' test_one']"), 7),
    "two-kinds": (model("{value: 1, py: '2'}"), 8),
    "unknown-token": (GOOD.replace("TORCH_ROOT", "PYTORCH_ROOT"), 4),
    "duplicate-key": (GOOD.replace("mode: xfail", "mode: skip\n          mode: xfail"), 11),
    "unknown-key": (GOOD.replace("  labels: [unit, trunk]", "  labels: [unit, trunk]\n  ownr: x"), 3),
    "misplaced-kwargs": (model(more=", kwargs: {dim: 1}"), 8),
    "inert-key": (GOOD.replace("  global:\n", "  global:\n    devices: [cpu]\n"), 13),
    "path-without-root": (GOOD.replace("${TORCH_ROOT}/", ""), 4),
    "path-outside-tree": (GOOD.replace("/test/", "/../"), 4),
    "glob-path": (GOOD.replace("test_a.py", "test_*.py"), 4),
    "duplicate-path": (GOOD.replace("  global:", "    - path: ${TORCH_ROOT}/test/./test_a.py\n"
                                    "      unlisted_test_mode: skip\n  global:"), 12),
    "quoted-path": (GOOD.replace("path: ${TORCH_ROOT}/test/test_a.py", 'path: "${TORCH_ROOT}/test/test_a.py"'), 4),
    "textual-file-list": ("x-parked:\n  path: a.bin\n" + GOOD, 2),
    "missing-unlisted-mode": (GOOD.replace("      unlisted_test_mode: skip\n", ""), 4),
    "empty-names": (entry("- names: []"), 7),
    "duplicate-name": (entry("- names: [TestA::test_one, TestA::test_one]"), 7),
    "class-conflict": (entry("- names: [TestB::test_two]"), 8),
    "shadowed-entry": (entry("- names: [TestA::test_two]"), 8),
    "lost-tags": (entry('- names: ["test_t.*"]\n  tags: [slow]'), 7),
    "dtype-in-name": (entry("- names: [TestA::test_int8_pack]"), 7),
    "glob-pattern": (entry("- names: [test_one*]"), 7),
    "orphan-label": (GOOD.replace("unit, trunk", "nightly, trunk"), 2),
    "unreachable-label": (GOOD.replace("labels: [trunk]", "labels: [smoke]"), 8),
    "dotted-operator": (GOOD.replace("[{name: add}]", "[{name: nn.functional.gelu}]"), 11),
    "allow-list-empties": (GOOD.replace("[add, nn.functional.gelu]", "[]"), 14),
    "duplicate-model": (GOOD + WHOLE_MODEL + WHOLE_MODEL.partition("models:\n")[2], 17),
    "model-without-uses": (GOOD + WHOLE_MODEL.replace(", uses: {}", ""), 16),
    "precision-string": (GOOD.replace("0.001", "1e-3"), 13),
}  # fmt: skip  # a table


def findings(text: str) -> tuple[Finding, ...]:
    return lint([ManifestDocument("m.yaml", text)])


def test_a_manifest_that_is_right_has_no_finding() -> None:
    assert findings(GOOD) == ()
    assert findings(model()) == ()


@pytest.mark.parametrize("rule", BREAKS)
def test_a_rule_finds_its_fault_at_its_place_and_only_that(rule: str) -> None:
    text, line = BREAKS[rule]
    found = findings(text)
    assert [(finding.rule, finding.line) for finding in found] == [(rule, line)]
    assert found[0].severity is RULES[rule].severity


def test_every_rule_is_shown_to_find_something() -> None:
    shown_elsewhere = {"copied-global", "expired-entry", "closed-issue"} | {
        rule.id for rule in RULES.values() if rule.needs_upstream
    }
    assert set(BREAKS) | shown_elsewhere == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_has_a_stable_id_and_says_why_and_how_in_a_sentence_each(rule: str) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule)
    assert RULES[rule].id == rule
    assert RULES[rule].why.endswith(".")
    assert RULES[rule].how.endswith(".")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (model("{tensor: {shape: [1], dtype: half, device: 'cuda:0'}}"), "`device` of a tensor is not used: "),
        (entry("- names: [test_m]\n  edits: {ops: {include: [{name: add}]}}"), "`ops.include` has no effect on"),
        (entry("- names: [test_m]\n  edits: {dtypes: {include: [{name: half, force_xfail: true}]}}"), "`force_xfail`"),
        (entry("- names: [test_m]\n  selectors: {}"), "unknown key 'selectors', ignored: it stands in the framework's"),
        (GOOD + "    supported_modules: [{name: Linear, force_xfail: true}]\n", "`force_xfail` of a module"),
    ],
)
def test_keys_without_effect_are_named(text: str, message: str) -> None:
    (finding,) = findings(text)
    assert finding.rule == "inert-key"
    assert finding.message.startswith(message)


def test_devices_of_tensors_are_counted_and_said_once() -> None:
    tensor = "{tensor: {shape: [1], dtype: half, device: cpu}}"
    (finding,) = findings(model(f"{tensor}, {tensor}"))
    assert "(2 times in this manifest)" in finding.message


@pytest.mark.parametrize("pattern", ["test_a.*", "test_[a-z]*", "test_(a|b)*", r"test_\d*", "test_a{2}", "test_.?"])
def test_a_pattern_that_is_one_is_no_glob(pattern: str) -> None:
    assert findings(entry(f"- names: ['{pattern}']")) == ()


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("    - {path: /b.py, unlisted_test_mode: skip}", "the launcher does not see this file"),
        (
            "    -\n      path: >-\n        /b.py\n      unlisted_test_mode: skip",
            "the launcher reads this path as '>-'",
        ),
    ],
)
def test_a_file_that_the_launcher_reads_otherwise_is_found(block: str, expected: str) -> None:
    (finding,) = findings(GOOD.replace("  global:", f"{block}\n  global:"))
    assert finding.rule == "textual-file-list"
    assert finding.message.startswith(expected)


def test_an_expression_that_is_too_small_for_a_number_keeps_its_exponent() -> None:
    (finding,) = findings(GOOD.replace("0.001", "1e-9"))
    assert finding.message.endswith("write `1.0e-09`")


def test_a_label_of_an_entry_that_is_no_tier_is_found_unless_it_is_the_files_own() -> None:
    (finding,) = findings(GOOD.replace("labels: [trunk]", "labels: [trunk, nightly]"))
    assert (finding.rule, finding.line, finding.column) == ("orphan-label", 8, 27)


@pytest.mark.parametrize("allowed", ["dtypes: {include: [{name: int8}]}", "ops: {}"])
def test_a_dtype_in_a_name_is_no_matter_where_it_is_allowed(allowed: str) -> None:
    text = entry(f"- names: [TestA::test_int8_pack]\n  edits: {{{allowed}}}")
    assert findings(text if "int8}" in allowed else text.replace("name: float16, prec", "name: int8, prec")) == ()


@pytest.mark.parametrize("beside", ["config_path: a.B", "model_id: a/b"])
def test_the_configuration_of_a_module_is_no_second_kind(beside: str) -> None:
    assert findings(model(f"{{module_path: torch.nn.Linear, {beside}}}")) == ()


def test_the_shipped_manifests_have_no_finding() -> None:
    folder = Path(__file__).parents[3] / "test_manifests"
    files = manifest_files(folder)
    assert files
    documents = [ManifestDocument(file.relative_to(folder).as_posix(), file.read_text("utf-8")) for file in files]
    assert lint(documents) == ()


GLOBAL = "  global:\n    supported_ops:\n" + "".join(f"      - op{number}\n" for number in range(30))


def manifest(number: int, section: str) -> ManifestDocument:
    block = f"    - path: ${{TORCH_ROOT}}/test/test_{number}.py\n      unlisted_test_mode: skip\n"
    return ManifestDocument(f"{number}.yaml", f"test_suite_config:\n  labels: [unit]\n  files:\n{block}{section}")


def test_a_global_that_is_copied_is_found_in_every_copy() -> None:
    other = manifest(4, GLOBAL.replace("op7", "op77"))
    found = lint([manifest(1, GLOBAL), manifest(2, GLOBAL), manifest(3, GLOBAL), other])
    assert [(finding.file, finding.rule) for finding in found] == [(f"{n}.yaml", "copied-global") for n in (1, 2, 3)]
    assert found[0].message == "this `global` is the same in 3 manifests, 2.yaml for one"


def test_two_copies_or_a_short_one_are_no_matter() -> None:
    assert lint([manifest(1, GLOBAL), manifest(2, GLOBAL)]) == ()
    short = "  global: {input_config: {seed: 1}}\n"
    assert lint([manifest(number, short) for number in range(5)]) == ()


def test_a_file_in_two_manifests_is_found_when_it_is_upstreams() -> None:
    twice = [ManifestDocument("a.yaml", GOOD), ManifestDocument("b.yaml", GOOD)]
    (finding,) = lint(twice)
    assert str(finding) == (
        "b.yaml:4:13: warning: the file is listed in a.yaml, line 4 already, which counts; this block is ignored"
    )
    own = [ManifestDocument(document.name, model()) for document in twice]
    assert lint(own) == ()


def test_a_manifest_that_does_not_load_leaves_the_others_to_be_compared() -> None:
    found = lint([ManifestDocument(name, text) for name, text in (("a.yaml", "{"), ("b.yaml", GOOD), ("c.yaml", GOOD))])
    assert [(finding.file, finding.rule) for finding in found] == [
        ("a.yaml", "yaml-syntax"),
        ("c.yaml", "duplicate-path"),
    ]


SOURCE = """\
class TestA(TestCase):
    def test_one(self, device): ...
    @ops(op_db)
    def test_two(self, device, dtype, op): ...
class TestB(TestCase):
    def test_three(self, device): ...
"""
DATABASE = 'op_db = [OpInfo("add"), OpInfo("nn.functional.gelu"), OpInfo("mul")]\n'


@pytest.fixture
def upstream(tmp_path: Path) -> DirectoryTree:
    for name, text in {
        "test/test_a.py": SOURCE,
        "test/test_b.py": "class TestC(TestCase):\n    def test_four(self): ...\n",
        "torch/testing/_internal/common_methods_invocations.py": DATABASE,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return DirectoryTree(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "rule", "message"),
    [
        ("TestA::test_one", "TestA::test_gone", "dead-name", "test/test_a.py has no `test_gone`"),
        ("TestA::test_two", "TestA::test_two_add", "generated-name", "its base is `test_two`"),
        ("TestA::test_one", "TestA::test_three", "moved-class", "`TestB::test_three`"),
        ("TestA::test_one", "TestC::test_four", "moved-file", "it stands in test/test_b.py"),
        ("test_a.py", "test_z.py", "removed-file", "test/test_z.py is not in the tree"),
        ("[add, ", "[addd, ", "unknown-operator", "no operator `addd` (did you mean `add`?)"),
    ],
)
def test_with_upstreams_sources_what_is_not_there_is_found(
    upstream: DirectoryTree, before: str, after: str, rule: str, message: str
) -> None:
    right = GOOD.replace(', "test_p.*"', "")
    assert lint([ManifestDocument("m.yaml", right)], upstream) == ()
    (finding,) = lint([ManifestDocument("m.yaml", right.replace(before, after))], upstream)
    assert finding.rule == rule
    assert message in finding.message


def test_a_list_of_operators_that_are_all_unknown_is_said_to_allow_everything(upstream: DirectoryTree) -> None:
    text = GOOD.replace(', "test_p.*"', "").replace("[add, nn.functional.gelu]", "[plus]")
    found = lint([ManifestDocument("m.yaml", text)], upstream)
    assert sorted(finding.rule for finding in found) == ["allow-list-empties", "unknown-operator"]
