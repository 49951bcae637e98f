"""Several manifests become one by the framework's rules, and what gets lost is told."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, ManifestError, Profile, Resolution, load_manifests, resolve
from selector.manifests.merge import Merged, merge
from selector.types import CollectedTest

FILE = "test/test_walls.py"
BLOCK = """\
- path: ${TORCH_ROOT}/%s
  unlisted_test_mode: %s
  tests:
"""


def manifest(name: str, tests: str, *, labels: str = "[]", supported: str = "", unlisted: str = "skip") -> str:
    text = f"test_suite_config:\n  labels: {labels}\n  files:\n" + textwrap.indent(BLOCK % (name, unlisted), " " * 4)
    text += textwrap.indent(textwrap.dedent(tests).strip("\n"), " " * 8) + "\n"
    if supported:
        text += "  global:\n" + textwrap.indent(textwrap.dedent(supported).strip("\n"), " " * 4) + "\n"
    return text


def merged(*texts: str) -> Merged:
    return merge([ManifestDocument(f"{name}.yaml", text) for name, text in zip("abc", texts, strict=False)])


def rows(made: Merged, tests: Sequence[CollectedTest], profile: Profile = Profile.COMPAT) -> tuple[Resolution, ...]:
    return resolve(load_manifests([made.document]), tests, profile=profile, device="spyre").rows


def collected(base: str) -> CollectedTest:
    return CollectedTest(f"{FILE}::TestWallsSPYRE::{base}", FILE, "TestWalls", base, f"{base}_spyre")


def test_a_later_manifest_adds_entries_and_changes_none() -> None:
    made = merged(
        manifest(FILE, "- names: [T::test_brick, T::test_clay]\n  mode: xfail", labels="[unit]"),
        manifest(
            FILE,
            """
            - names: [' T::test_clay', T::test_brick]
              mode: skip
            - names: [T::test_brick, T::test_clay]
              mode: skip
              tags: [damp]
            - names: [T::test_mud]
              mode: xfail_strict
            """,
            labels="[trunk, unit]",
            unlisted="mandatory_success",
        ),
    )
    (block,) = yaml.safe_load(made.document.text)["test_suite_config"]["files"]
    assert (block["unlisted_test_mode"], block["labels"]) == ("skip", ["unit", "trunk"])
    assert [(entry["names"][-1], entry["mode"]) for entry in block["tests"]] == [
        ("T::test_clay", "xfail"),
        ("T::test_clay", "skip"),
        ("T::test_mud", "xfail_strict"),
    ]
    assert [str(conflict) for conflict in made.conflicts] == [
        f"b.yaml:4:7: unlisted tests of ${{TORCH_ROOT}}/{FILE} are mandatory_success here and skip at a.yaml:4, "
        "which counts",
        "b.yaml:7:11: this entry for  T::test_clay, T::test_brick is dropped: a.yaml:7 has the same names, tags and "
        "edits, and another mode",
    ]
    assert [row.mode for row in rows(made, [collected(base) for base in ("test_clay", "test_mud", "test_x")])] == [
        "xfail",
        "xfail_strict",
        "skip",
    ]


def test_rows_can_be_traced_to_the_manifests_they_came_from() -> None:
    supported = "supported_ops: [%s]"
    made = merged(
        manifest(FILE, "- names: [test_brick]", supported=supported % "add"),
        manifest(FILE, "- names: [test_mud]", supported=supported % "mul"),
    )
    tests = [collected(base) for base in ("test_brick", "test_mud", "test_x")]
    assert [made.origin(row.provenance) for row in rows(made, tests)] == ["a.yaml:7", "b.yaml:7", "a.yaml:4"]
    assert made.origin("elsewhere.yaml:3") == "elsewhere.yaml:3"


def test_the_merged_manifest_is_called_after_the_first_few() -> None:
    documents = [ManifestDocument(f"{number}.yaml", manifest(FILE, "[]")) for number in range(5)]
    assert merge(documents[:2]).document.name == "0.yaml + 1.yaml"
    assert merge(documents).document.name == "0.yaml + 1.yaml + 2.yaml + 2 more"


def test_an_equal_entry_is_dropped_without_a_word() -> None:
    text = manifest(FILE, "- names: [test_brick]\n  mode: xfail")
    assert merged(text, text).conflicts == ()


def test_what_is_compared_is_names_tags_and_edits_and_what_differs_besides_is_told() -> None:
    made = merged(
        manifest(FILE, "- names: [test_brick]\n  tags: [damp]"),
        manifest(FILE, "- names: [test_brick]\n  tags: [damp]\n  mode: mandatory_success\n  reason: it rains"),
    )
    assert [conflict.message for conflict in made.conflicts] == [
        "this entry for test_brick is dropped: a.yaml:7 has the same names, tags and edits, and another reason"
    ]


def test_blocks_are_told_apart_by_the_text_of_their_path() -> None:
    made = merged(manifest(FILE, "[]"), manifest("test/./test_walls.py", "- names: [test_mud]"))
    (conflict,) = made.conflicts
    assert (conflict.kind, conflict.file, conflict.line) == ("same-file", "b.yaml", 4)
    assert [row.rule for row in rows(made, [collected("test_mud")])] == ["unlisted"]


def test_two_blocks_of_one_path_are_merged_although_one_manifest_alone_would_ignore_the_second() -> None:
    twice = (
        manifest(FILE, "- names: [test_brick]")
        + manifest(FILE, "- names: [test_mud]\n  mode: xfail").partition("files:\n")[2]
    )
    alone = resolve(
        load_manifests([ManifestDocument("a.yaml", twice)]), [collected("test_mud")], profile=Profile.COMPAT, device="s"
    )
    assert alone.rows[0].rule == "unlisted"
    assert rows(merged(twice, manifest("test/test_o.py", "[]")), [collected("test_mud")])[0].mode == "xfail"


def test_lists_of_the_device_are_united_and_the_last_setting_of_an_operator_counts() -> None:
    made = merged(
        manifest(FILE, "[]", supported="supported_ops: [mul, {name: add, force_xfail: true}]"),
        manifest(FILE, "[]", supported="supported_ops: [mul, {name: add}]\nsupported_dtypes: [{name: int8}]"),
    )
    device = yaml.safe_load(made.document.text)["test_suite_config"]["global"]
    assert device == {
        "supported_ops": ["mul", {"name": "add", "force_xfail": True}, {"name": "add"}],
        "supported_dtypes": [{"name": "int8"}],
    }
    assert [str(conflict) for conflict in made.conflicts] == [
        "b.yaml:9:26: 'add' of `global.supported_ops` has other settings in an earlier manifest; both stay, and the "
        "last one counts"
    ]
    rules = load_manifests([made.document]).rules(FILE)
    assert rules is not None
    assert rules.device.xfail_ops == frozenset()


def test_a_setting_that_is_no_list_must_be_the_same() -> None:
    texts = [manifest(FILE, "[]", supported=f"input_config: {{seed: {seed}}}") for seed in (4, 5)]
    with pytest.raises(ManifestError, match=r"b.yaml:9:19: `global.input_config` differs"):
        merged(*texts)
    assert merged(texts[0], texts[0]).conflicts == ()


def test_a_bare_name_is_compared_letter_by_letter_as_in_the_framework() -> None:
    made = merged(manifest(FILE, "- names: test_on"), manifest(FILE, "- names: test_no\n  mode: skip"))
    assert [conflict.kind for conflict in made.conflicts] == ["dropped-entry"]


def test_an_entryless_block_may_be_null_and_one_manifest_stays_as_it_is() -> None:
    null = manifest(FILE, "null").replace("tests:\n        null", "tests: null")
    assert "tests: []" in merged(null, null).document.text
    assert merged(null) == Merged(ManifestDocument("a.yaml", null), ())
    with pytest.raises(ValueError, match="nothing to merge"):
        merge([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "b.yaml:1:1: the manifest must be a mapping, not a list"),
        ("{}", "b.yaml:1:1: the key `test_suite_config` is missing"),
        ("test_suite_config: 3", "b.yaml:1:20: `test_suite_config` must be a mapping, not 3"),
        ("test_suite_config: {labels: []}", "b.yaml:1:20: the key `files` is missing"),
        ("test_suite_config: {files: [], global: null}", "b.yaml:1:40: `global` must be a mapping, not null"),
        ("test_suite_config: {files: [x]}", "b.yaml:1:29: this must be a mapping, not 'x'"),
        ("test_suite_config: {files: [{path: 3}]}", "b.yaml:1:36: `path` must be text, not 3"),
        (manifest(FILE, "- mode: skip"), "b.yaml:7:11: the key `names` is missing"),
        ("{", "b.yaml:2:1: not valid YAML"),
    ],
)
def test_what_has_not_the_shape_of_a_manifest_is_not_merged(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        merged(manifest(FILE, "[]"), text)
    assert str(caught.value).startswith(message)


BASES = ["test_a", "test_b", "test_c"]
ENTRY = st.fixed_dictionaries(
    {"names": st.lists(st.sampled_from([*BASES, "T::test_a", "test_.", "test_[bc]"]), min_size=1, max_size=3)},
    optional={
        "mode": st.sampled_from(["mandatory_success", "xfail", "xfail_strict", "skip"]),
        "tags": st.lists(st.sampled_from(["damp", "dry"]), max_size=2),
    },
)
MANIFEST = st.builds(
    lambda entries, unlisted: yaml.safe_dump(
        {
            "test_suite_config": {
                "files": [{"path": f"${{TORCH_ROOT}}/{FILE}", "unlisted_test_mode": unlisted, "tests": entries}]
            }
        }
    ),
    st.lists(ENTRY, max_size=5),
    st.sampled_from(["xfail", "skip"]),
)
ALL = [collected(base) for base in [*BASES, "test_other"]]


def said(made: Merged) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(row.mode, row.rule, row.tags) for row in rows(made, ALL)]


@given(MANIFEST, st.integers(2, 4))
def test_a_manifest_merged_with_itself_means_what_it_means_alone(text: str, times: int) -> None:
    made = merge([ManifestDocument(f"{number}.yaml", text) for number in range(times)])
    assert said(made) == said(merged(text))


@given(MANIFEST, MANIFEST)
def test_an_exact_name_of_the_first_manifest_is_beyond_the_reach_of_the_second(first: str, second: str) -> None:
    exact = {
        name.rpartition("::")[2]
        for entry in yaml.safe_load(first)["test_suite_config"]["files"][0]["tests"]
        for name in entry["names"]
    }
    before, after = said(merged(first)), said(merged(first, second))
    for test, one, other in zip(ALL, before, after, strict=True):
        if test.base in exact or (one[1] == "unlisted" and other[1] == "unlisted"):
            assert one == other


@given(MANIFEST, MANIFEST)
def test_every_entry_of_the_second_manifest_is_there_or_has_its_twin_there(first: str, second: str) -> None:
    def entries(made: Merged) -> list[dict[str, object]]:
        listed: list[dict[str, object]] = yaml.safe_load(made.document.text)["test_suite_config"]["files"][0]["tests"]
        return listed

    def identity(entry: dict[str, object]) -> tuple[object, object]:
        names = entry["names"]
        assert isinstance(names, list)
        return frozenset(names), entry.get("tags", [])

    own, more, both = entries(merged(first)), entries(merged(second)), entries(merged(first, second))
    assert both[: len(own)] == own
    assert [entry for entry in both[len(own) :] if entry in more] == both[len(own) :]
    assert all(any(identity(entry) == identity(kept) for kept in both) for entry in more)
