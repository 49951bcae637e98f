"""The changed files between two source trees, without git: two folders, or two installed wheels.

A file that left one place and came to another with the same text, or under the same name with mostly the same lines,
was renamed. Trees give text alone, so files that are no text on both sides cannot be told to be equal; they count as
changed and unread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from selector.change.diff import TEXT_CAP
from selector.change.facts import FileDelta, Status
from selector.trees import SourceTree

#: Share of lines that two files of one name have in common when one is the other, moved.
SIMILAR = 0.5
_LINE_CAP = 2_000


def compare_trees(base: SourceTree, head: SourceTree) -> tuple[FileDelta, ...]:
    """The changed files, sorted by path."""
    before, after = frozenset(base.paths()), frozenset(head.paths())
    gone = {path: base.read(path) for path in sorted(before - after)}
    came = {path: head.read(path) for path in sorted(after - before)}
    renames = dict(_renames(gone, came))
    deltas = [_delta(path, path, Status.MODIFIED, base.read(path), head.read(path)) for path in before & after]
    deltas += [_delta(path, old, Status.RENAMED, gone[old], came[path]) for path, old in renames.items()]
    deltas += [_delta(path, path, Status.ADDED, "", came[path]) for path in came.keys() - renames.keys()]
    deltas += [_delta(path, path, Status.DELETED, gone[path], "") for path in gone.keys() - set(renames.values())]
    return tuple(sorted((delta for delta in deltas if delta is not None), key=lambda delta: delta.path))


def _delta(path: str, old_path: str, status: Status, before: str | None, after: str | None) -> FileDelta | None:
    if before is None or after is None:
        return FileDelta(
            path, old_path if old_path != path else None, Status.BINARY if status is Status.MODIFIED else status
        )
    if status is Status.MODIFIED and before == after:
        return None
    return FileDelta(path, old_path if old_path != path else None, status, _changed_lines(before, after))


def _renames(gone: Mapping[str, str | None], came: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Pairs of new and old path; each path is used once. Empty files are like any other and are not followed."""
    left = dict(gone)
    by_text = {text: path for path, text in reversed(list(gone.items())) if text}
    for path, text in came.items():
        old = by_text.get(text) if text else None
        if old is None or old not in left:
            old = _most_like(path, text, left)
        if old is not None:
            del left[old]
            yield path, old


def _most_like(path: str, text: str | None, gone: Mapping[str, str | None]) -> str | None:
    """The file of the same name that shares most lines, when it shares enough."""
    name = PurePosixPath(path).name
    if not text or name == "__init__.py":
        return None
    shares = [
        (_share(text, old_text), old) for old, old_text in gone.items() if old_text and PurePosixPath(old).name == name
    ]
    share, best = max(shares, default=(0.0, None))
    return best if share >= SIMILAR else None


def _share(one: str, other: str) -> float:
    """Lines in common, by the longer of the two."""
    lines, others = Counter(one.splitlines()), Counter(other.splitlines())
    return (lines & others).total() / max(lines.total(), others.total(), 1)


def _changed_lines(before: str, after: str) -> str:
    """Lines that only one side has, as in a diff, capped like those of one."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    lines, room = list[str](), TEXT_CAP
    for sign, line in (*_only("-", before, old - new), *_only("+", after, new - old)):
        lines.append(f"{sign}{line}"[: min(room, _LINE_CAP)])
        room -= len(lines[-1]) + 1
        if room <= 0:
            break
    return "\n".join(lines)


def _only(sign: str, text: str, left: Counter[str]) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        if left[line] > 0:
            left[line] -= 1
            yield sign, line
