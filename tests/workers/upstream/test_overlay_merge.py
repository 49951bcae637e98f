"""What stands on each side at a changed path: a table of cases, and properties that hold for any texts."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from workers.upstream.git import Git
from workers.upstream.overlay_merge import Merge, Settled, SkewError, UnmergeableError, git_merge, settle

PATH = PurePosixPath("torch/nn/linear.py")
NOTES = PurePosixPath("torch/nn/notes.txt")
SPACE = "".join(f"between_{number}\n" for number in range(8))

#: A file with three places far apart, each in its first or its second state.
Places = tuple[bool, bool, bool]


def text(places: Places) -> bytes:
    words = [f"place_{number} = {'new' if is_new else 'old'}\n" for number, is_new in enumerate(places)]
    return SPACE.join(words).encode()


@pytest.fixture(scope="module")
def merge(tmp_path_factory: pytest.TempPathFactory) -> Merge:
    folder = tmp_path_factory.mktemp("merging")
    return git_merge(Git(folder, folder / "no-config"))


def nothing_merges(ours: bytes, origin: bytes, theirs: bytes) -> bytes:
    raise AssertionError("this case needs no merge")


@pytest.mark.parametrize(
    ("wheel", "base", "head", "expected"),
    [
        (b"b", b"b", b"h", (b"b", b"h")),
        (b"h", b"b", b"h", (b"b", b"h")),
        (None, None, b"h", (None, b"h")),
        (b"h", None, b"h", (None, b"h")),
        (b"b", b"b", None, (b"b", None)),
        (None, b"b", None, (b"b", None)),
        (b"other", b"same", b"same", (b"other", b"other")),
    ],
    ids=["modified", "wheel-has-it", "added", "wheel-has-added", "deleted", "wheel-has-deleted", "only-mode"],
)
def test_sides_that_need_no_merge(
    wheel: bytes | None, base: bytes | None, head: bytes | None, expected: tuple[bytes | None, bytes | None]
) -> None:
    pair = settle(PATH, wheel, base, head, nothing_merges)
    assert (pair.base, pair.head) == expected
    assert bool(pair.note) == (wheel == head and base != head)


@pytest.mark.parametrize(
    ("wheel", "base", "head", "sentence"),
    [
        (None, b"b", b"h", "the wheel does not have it"),
        (b"w", None, b"h", "another file of that name"),
        (b"w", b"b", None, "differs from the base commit's"),
    ],
)
def test_sides_that_cannot_be_made_are_skew(
    wheel: bytes | None, base: bytes | None, head: bytes | None, sentence: str
) -> None:
    with pytest.raises(SkewError, match=rf"{PATH} .*{sentence}.*nearer to the base"):
        settle(PATH, wheel, base, head, nothing_merges)


@pytest.mark.parametrize("head", [b"h", None])
def test_a_file_of_another_kind_that_no_wheel_ships_is_left_alone(head: bytes | None) -> None:
    assert settle(NOTES, None, b"b", head, nothing_merges) == Settled(None, None)


def test_a_wheel_that_has_the_change_and_more_is_compared_without_it(merge: Merge) -> None:
    base, head = text((False, False, False)), text((True, False, False))
    pair = settle(PATH, text((True, False, True)), base, head, merge)
    assert (pair.base, pair.head) == (text((False, False, True)), text((True, False, True)))
    assert "base runs without it" in pair.note


def test_a_wheel_that_has_half_of_the_change_is_compared_without_that_half(merge: Merge) -> None:
    pair = settle(PATH, text((True, False, True)), text((False, False, False)), text((True, True, False)), merge)
    assert (pair.base, pair.head) == (text((False, False, True)), text((True, True, True)))


@pytest.mark.parametrize("undo", [b"head", None])
def test_a_change_that_cannot_be_told_from_the_wheel_is_skew(undo: bytes | None) -> None:
    """However merging ends: two equal sides are never handed out for a comparison."""

    def merge(ours: bytes, origin: bytes, theirs: bytes) -> bytes:
        if ours == b"wheel" or undo is not None:
            return b"wheel"
        raise UnmergeableError("conflicts with")

    with pytest.raises(SkewError, match="cannot be told from it"):
        settle(PATH, b"wheel", b"base", b"head", merge)


_three_places = st.tuples(st.booleans(), st.booleans(), st.booleans())


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wheel=_three_places, base=_three_places, head=_three_places)
def test_places_far_apart_are_settled_one_by_one(merge: Merge, wheel: Places, base: Places, head: Places) -> None:
    """Where the change is, each side has its own commit's text; everywhere else both have the wheel's."""
    assume(base != head)
    pair = settle(PATH, text(wheel), text(base), text(head), merge)
    places = list(zip(wheel, base, head, strict=True))
    # What is nearest to either commit is that commit: with the wheel there, tree and torch agree the more.
    if wheel in (base, head):
        expected = base, head
    else:
        expected = (
            tuple(w if b == h else b for w, b, h in places),
            tuple(w if b == h else h for w, b, h in places),
        )  # type: ignore[assignment]  # three places again
    assert (pair.base, pair.head) == (text(expected[0]), text(expected[1]))


_lines = st.lists(st.sampled_from("abc"), max_size=6).map(lambda lines: "\n".join([*lines, ""]).encode())
_content = st.one_of(st.none(), _lines, st.binary(max_size=8))


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from([PATH, NOTES]), wheel=_content, base=_content, head=_content)
def test_a_change_is_never_compared_with_itself(
    merge: Merge, path: PurePosixPath, wheel: bytes | None, base: bytes | None, head: bytes | None
) -> None:
    """Any three contents: the sides differ, or the file is left as the wheel has it, or it is skew; and a wheel that is
    one of the two commits gives exactly these two."""
    try:
        pair = settle(path, wheel, base, head, merge)
    except SkewError:
        pair = None
    if pair is None:
        assert wheel not in (base, head)
        return
    if pair.base == pair.head:
        assert pair.base == wheel
        assert base == head or (wheel is None and path == NOTES)
    elif wheel in (base, head):
        assert (pair.base, pair.head) == (base, head)


def test_merging_leaves_nothing_behind(merge: Merge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert merge(b"1\n2\n", b"1\n2\n", b"1\n3\n") == b"1\n3\n"
    with pytest.raises(UnmergeableError, match="conflicts with"):
        merge(b"1\n", b"2\n", b"3\n")
    with pytest.raises(UnmergeableError, match="cannot be merged into"):
        merge(b"\0\1", b"\0\2", b"\0\3")
    assert list(tmp_path.iterdir()) == []
