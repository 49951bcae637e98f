"""The allowlist's grammar: every accepted form, every error with its place, and nothing that depends on letter case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.allowlist.document import MAX_CHARACTERS
from relay.allowlist.findings import AllowlistError, Severity
from relay.allowlist.grammar import parse_allowlist, read_allowlist
from relay.allowlist.types import EVERYTHING, Allowlist, Backend, Level, Participation

BOTH = EVERYTHING
LIST = """\
# Comments and order are the maintainers' own.
L4:
  - four/a: y, @z , ,
L1:
  - one/a
  - one/b:
  - one/c: [p, "@q", 7, null]
L3:
  npu:
    three/a: [x]
    three/b: "u, v"
  12:
    three/c: {oncalls: "w", events: [pull_request]}
L2:
  - two/a: {events: [nightly], oncalls: [n]}
  - two/b: {}
"""


def _one(text: str) -> Backend:
    (backend,) = parse_allowlist(text).backends
    return backend


def test_every_accepted_form_is_read() -> None:
    """Levels in order, within a level the order of the file, each entry with its line."""
    pull_request, nightly = (frozenset([event]) for event in (Participation.PULL_REQUEST, Participation.NIGHTLY))
    assert parse_allowlist(LIST) == Allowlist(
        (
            Backend("one/a", Level.L1, (), BOTH, None, 5),
            Backend("one/b", Level.L1, (), BOTH, None, 6),
            Backend("one/c", Level.L1, ("p", "q", "7"), BOTH, None, 7),
            Backend("two/a", Level.L2, ("n",), nightly, None, 15),
            Backend("two/b", Level.L2, (), BOTH, None, 16),
            Backend("three/a", Level.L3, ("x",), BOTH, "npu", 10),
            Backend("three/b", Level.L3, ("u", "v"), BOTH, "npu", 11),
            Backend("three/c", Level.L3, ("w",), pull_request, "12", 13),
            Backend("four/a", Level.L4, ("y", "z"), BOTH, None, 3),
        )
    )


@pytest.mark.parametrize("level", ["L1", "L2", "L3", "L4"])
@pytest.mark.parametrize("nothing", ["", "null", "~", "''", "[]", "{}"])
def test_a_level_may_be_empty(level: str, nothing: str) -> None:
    """In every way of saying nothing."""
    reading = read_allowlist(f"{level}: {nothing}\n")
    assert reading.allowlist == Allowlist()
    assert not reading.findings


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("- a/b", (1, 1), "must be a mapping"),
        ("just words", (1, 1), "must be a mapping"),
        ("L1:\n  a/b: x", (2, 3), "L1 must be a list"),
        ("L2: text", (1, 5), "L2 must be a list"),
        ("L4: 5", (1, 5), "L4 must be a list"),
        ("L3:\n  - a/b", (2, 3), "L3 must be a mapping"),
        ("L3: text", (1, 5), "L3 must be a mapping"),
        ("L3:\n  npu: [a/b]", (2, 8), "device 'npu' must be a mapping"),
        ("L3:\n  npu:", (2, 7), "device 'npu' must be a mapping"),
        ("L3:\n  '  ': {a/b: x}", (2, 3), "must not be blank"),
        ("L3:\n  ~: {a/b: x}", (2, 3), "must not be blank"),
        ("L1:\n  - 5", (2, 5), "an entry of L1"),
        ("L1:\n  -", (2, 4), "an entry of L1"),
        ("L1:\n  - [a/b]", (2, 5), "an entry of L1"),
        ("L1:\n  - {}", (2, 5), "a mapping of 0 keys"),
        ("L1:\n  - {a/b: x, c/d: y}", (2, 5), "a mapping of 2 keys"),
        ("L1:\n  - ab", (2, 5), "no repository"),
        ("L3:\n  npu: {ab: x}", (2, 9), "no repository"),
        ("L1:\n  - a/b/c", (2, 5), "no repository"),
        ("L1:\n  - a/..", (2, 5), "no repository"),
        ("L1:\n  - a/b?ref=x", (2, 5), "no repository"),
        ("L1:\n  - 5: x", (2, 5), "no repository"),
        (f"L1:\n  - a/{'b' * 300}", (2, 5), "no repository"),
        ("L1:\n  - a/b\nL4:\n  - A/B: x", (4, 5), "A/B stands in line 2 already"),
        ("L3:\n  x: {a/b: p}\n  y: {a/b: p}", (3, 7), "stands in line 2 already"),
        ("L1: [a/b]\nL1: [c/d]", (2, 1), "the key 'L1' stands in line 1 already"),
        ("L3:\n  1: {a/b: p}\n  '1': {c/d: p}", (3, 3), "the key '1' stands in line 2 already"),
        ("L2:\n  - a/b: {owner: x}", (2, 11), "unsupported metadata 'owner'"),
        ("L2:\n  - a/b: {event: [nightly]}", (2, 11), "did you mean events?"),
        ("L2:\n  - a/b: {events: [push]}", (2, 20), "a push counts as pull_request"),
        ("L2:\n  - a/b: {events: []}", (2, 19), "not an empty list"),
        ("L2:\n  - a/b: {events: }", (2, 19), "not nothing"),
        ("L2:\n  - a/b: {events: nightly}", (2, 19), "not 'nightly'"),
        ("L2:\n  - a/b: {events: {nightly: 1}}", (2, 19), "not a mapping"),
        ("L2:\n  - a/b: {events: [5]}", (2, 20), "unsupported event '5'"),
        ("L2:\n  - a/b: {events: [nightly, nightly]}", (2, 29), "stands in line 2 already"),
        ("L2:\n  - a/b: {oncalls: 5}", (2, 20), "not '5'"),
        ("L2:\n  - a/b: {oncalls: {x: y}}", (2, 20), "not a mapping"),
        ("L2:\n  - a/b: {oncalls: [[x]]}", (2, 21), "not a list"),
        ("L4:\n  - a/b: [@x]", (2, 11), "must stand in quotes"),
        ("L1:\n\t- a/b", (2, 1), "spaces only"),
        ("L1: [a/b\n", (2, 1), "not valid YAML"),
        ("L1:\n  - a\udc80b", (2, 6), "not UTF-8"),
        ("L1:\n  - a\x07b", (2, 6), "a character it does not allow"),
        ("L1: &x [*x]", (1, 5), "contains itself"),
        ("L1: !!python/object:os.system []", (1, 5), "no place here"),
        ("L1: [!!int a]", (1, 6), "no valid value"),
        ("<<: {L1: [a/b]}", (1, 1), "no place here"),
        ("{[a]: b}", (1, 2), "a key must be plain text"),
        ("L1: [a/b]\n---\nL2: [c/d]", (2, 1), "not valid YAML"),
        ("#" * (MAX_CHARACTERS + 1), (1, 1), "larger than"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, place: tuple[int, int], says: str) -> None:
    """As an error, which keeps the whole list from being used."""
    reading = read_allowlist(text)
    assert reading.allowlist is None
    (finding,) = reading.findings
    assert (finding.line, finding.column, finding.severity) == (*place, Severity.ERROR)
    assert says in finding.message
    with pytest.raises(AllowlistError, match=f"line {place[0]}:{place[1]}: "):
        parse_allowlist(text)


@pytest.mark.parametrize(
    ("text", "backends", "says"),
    [
        ("L1: [a/b]\nl2: [c/d]", 1, "did you mean L2?"),
        ("L1: [a/b]\nL5: [c/d]", 1, "unknown key 'L5'"),
        ("L3: {010: {a/b: x}}", 1, "reads this device as '8'"),
        ("L3: {on: {a/b: x}}", 1, "reads this device as 'True'"),
        ("", 0, "the file is empty"),
        ("# nothing\n", 0, "the file is empty"),
        ("null", 0, "the file is empty"),
    ],
)
def test_what_only_looks_wrong_is_a_warning(text: str, backends: int, says: str) -> None:
    """The list is used all the same."""
    reading = read_allowlist(text)
    assert reading.allowlist is not None
    assert len(reading.allowlist.backends) == backends
    (finding,) = reading.findings
    assert finding.severity is Severity.WARNING
    assert says in finding.message
    assert parse_allowlist(text) == reading.allowlist


def test_all_errors_are_found_at_once() -> None:
    """In the order of the file; nobody mends one to meet the next."""
    reading = read_allowlist("L9: x\nL1: [ab, 5]\nL3: {npu: [], '': {}}\nL2: {a: b}\n")
    assert [(finding.line, finding.severity.value) for finding in reading.findings] == [
        (1, "warning"),
        (2, "error"),
        (2, "error"),
        (3, "error"),
        (3, "error"),
        (4, "error"),
    ]


def test_aliases_cost_what_they_expand_to() -> None:
    """A few lines that stand for millions of values are refused, not expanded."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    reading = read_allowlist("\n".join(lines))
    assert "expand to more than" in reading.findings[0].message


def test_a_repository_is_trimmed() -> None:
    """Of spaces and slashes around it."""
    assert _one('L1: [" /a/b/ "]').repo == "a/b"


def test_names_keep_their_letters_and_lose_their_case_as_keys() -> None:
    """What is shown is what was written; what is compared is not."""
    allowlist = parse_allowlist("L2: [Ascend/PyTorch]")
    found = allowlist.find("ascend/pytorch")
    assert found is not None
    assert (found.repo, found.key) == ("Ascend/PyTorch", "ascend/pytorch")


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["a/b", "A/b", "c/d"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(["L1", "L2", "L3", "L4", "a/b", "events", "oncalls"]), inner
        )
    ),
    max_leaves=12,
)


@given(_VALUES)
def test_any_document_is_a_list_or_a_finding(value: object) -> None:
    """Never a traceback; without an error, every repository stands once and has one slash."""
    import yaml

    reading = read_allowlist(yaml.safe_dump(value))
    if reading.allowlist is None:
        assert any(finding.severity is Severity.ERROR for finding in reading.findings)
        return
    keys = [backend.key for backend in reading.allowlist.backends]
    assert len(set(keys)) == len(keys)
    assert all(key.count("/") == 1 for key in keys)


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_a_list_or_a_finding(text: str) -> None:
    """Lone surrogates and control characters included."""
    read_allowlist(text)
    read_allowlist(f"L1:\n  - {text}")
