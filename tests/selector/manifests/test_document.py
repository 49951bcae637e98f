"""The text of a manifest becomes plain data with places, or a finding with a place; nothing hostile gets further."""

from __future__ import annotations

import pytest

from selector.manifests.document import MAX_BYTES, MAX_DEPTH, ManifestDocument, read_document
from selector.manifests.findings import Place


def problems(text: str) -> list[str]:
    _, findings = read_document(ManifestDocument("m.yaml", text))
    return [str(finding) for finding in findings]


def data_of(text: str) -> object:
    placed, findings = read_document(ManifestDocument("m.yaml", text))
    assert findings == []
    return placed.data


def test_every_key_and_value_knows_its_line_and_column() -> None:
    placed, _ = read_document(ManifestDocument("m.yaml", "a:\n  - b: 1\n    c: [x, y]\n"))
    assert placed.data == {"a": [{"b": 1, "c": ["x", "y"]}]}
    assert placed.key_place(("a", 0, "c")) == Place(3, 5)
    assert placed.place(("a", 0, "c", 1)) == Place(3, 12)


def test_a_path_that_is_not_there_has_the_place_of_its_nearest_ancestor() -> None:
    placed, _ = read_document(ManifestDocument("m.yaml", "a:\n  - b: 1\n"))
    assert placed.place(("a", 0, "missing", 4)) == Place(2, 5)


def test_the_dialect_is_yaml_1_1() -> None:
    assert data_of("[1e-3, 1.0e-3, on, 0x10, ~, 'on']") == ["1e-3", 0.001, True, 16, None, "on"]


def test_an_empty_text_is_an_empty_mapping() -> None:
    assert data_of("# nothing but a remark\n") == {}


def test_anchors_aliases_and_merge_keys_work() -> None:
    assert data_of("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\nc: [*x, *x]\n") == {
        "a": {"p": 1, "q": 2},
        "b": {"p": 1, "q": 3},
        "c": [{"p": 1, "q": 2}, {"p": 1, "q": 2}],
    }


def test_of_several_merged_mappings_the_first_wins() -> None:
    assert data_of("a: &x {p: 1}\nb: &y {p: 2, r: 4}\nc: {<<: [*x, *y]}\n") == {
        "a": {"p": 1},
        "b": {"p": 2, "r": 4},
        "c": {"p": 1, "r": 4},
    }


def test_a_key_that_stands_twice_is_a_warning_that_names_both_lines_and_the_last_one_wins() -> None:
    placed, findings = read_document(ManifestDocument("m.yaml", "a: 1\nb: 2\na: 3\n"))
    assert placed.data == {"a": 3, "b": 2}
    assert [str(finding) for finding in findings] == [
        "m.yaml:3:1: warning: the key 'a' stands in line 1 already, in the same mapping; the last one wins"
    ]
    assert placed.place(("a",)) == Place(3, 4)


def test_what_a_merge_key_brought_has_the_place_where_it_is_written() -> None:
    placed, _ = read_document(ManifestDocument("m.yaml", "a: &x {p: 1}\nb: &y {p: 2, r: 4}\nc: {<<: [*x, *y], q: 3}\n"))
    assert placed.place(("c", "p")) == Place(1, 11)
    assert placed.key_place(("c", "r")) == Place(2, 14)
    assert placed.key_place(("c", "q")) == Place(3, 19)


@pytest.mark.parametrize(("text", "line"), [("a:\n\t- b\n", 2), ("a:\n  b: 1\n\tc: 2\n", 3)])
def test_a_tab_is_called_a_tab(text: str, line: int) -> None:
    assert problems(text) == [f"m.yaml:{line}:1: a tab; YAML is indented with spaces only"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [1", "m.yaml:2:1: not valid YAML: while parsing a flow sequence, did not find expected ',' or ']'"),
        ("a:\n  b: c: d", "m.yaml:2:7: not valid YAML: mapping values are not allowed in this context"),
        ("a: *nowhere", "m.yaml:1:4: not valid YAML: found undefined alias"),
        ("a: 1\n---\nb: 2", "m.yaml:2:1: not valid YAML: expected a single document in the stream, but found another"),
        ("a: b\x00c", "m.yaml:1:5: not valid YAML: a character that YAML does not allow"),
    ],
)
def test_a_syntax_error_is_said_with_its_place(text: str, expected: str) -> None:
    assert len(problems(text)) == 1
    assert problems(text)[0].startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: !!python/object/apply:os.system [id]", "m.yaml:1:4: the YAML type"),
        ("a: !!binary aGk=", "m.yaml:1:4: the YAML type 'tag:yaml.org,2002:binary' has no place here"),
        ("a: !!set {b: null}", "m.yaml:1:4: the YAML type"),
        ("a: !!bool maybe", "m.yaml:1:4: 'maybe' is no valid bool; quote it if it is text"),
        ("a: 2026-13-40", "m.yaml:1:4: '2026-13-40' is no valid timestamp"),
        ("[a]: b", "m.yaml:1:1: a key must be plain text"),
        ("a: {<<: 3}", "m.yaml:1:9: `<<` takes a mapping or a list of mappings"),
        (f"a: {'9' * 101}", "m.yaml:1:4: a value of 101 characters that is not text"),
    ],
)
def test_what_is_no_plain_data_is_refused(text: str, expected: str) -> None:
    assert problems(text)[0].startswith(expected)


def test_bytes_that_were_no_utf_8_are_found_with_their_place() -> None:
    text = b"a: 1\nb: \xff\n".decode(errors="surrogateescape")
    assert problems(text) == ["m.yaml:2:4: not UTF-8 text; save the file as UTF-8"]


@pytest.mark.parametrize("text", ["#" * (MAX_BYTES + 1), "#" + "é" * (MAX_BYTES // 2 + 1)])
def test_a_text_over_the_cap_is_refused_by_characters_and_by_bytes(text: str) -> None:
    assert problems(text) == ["m.yaml:1:1: larger than 2 MiB; split it into several manifests"]


def bomb(join: str) -> str:
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} {join.format(', '.join([f'*a{n - 1}'] * 9))}" for n in range(1, 10)]
    return "\n".join(lines)


@pytest.mark.parametrize("join", ["[{}]", "{{<<: [{}]}}"], ids=["lists", "merge keys"])
def test_an_alias_bomb_is_refused(join: str) -> None:
    assert "expand to more than" in problems(bomb(join))[0]


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {<<: *a}", "a: &a {<<: [*a, *a]}"])
def test_an_alias_that_contains_itself_is_refused(text: str) -> None:
    assert len(problems(text)) == 1
    assert problems(text)[0].startswith("m.yaml:1:")


@pytest.mark.parametrize("depth", [MAX_DEPTH + 2, 200_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    assert len(problems("[" * depth + "]" * depth)) == 1
