"""Unified diffs of git, cut into files.

unidiff reads the hunks; the header lines of git are read here, because file names with blanks, quotes, or ` b/` inside
are only unambiguous when all header lines of an entry are seen together. An entry that cannot be read is handed on
marked, never left out. Format: https://git-scm.com/docs/diff-format#generate_patch_text_with_p
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from selector.change.facts import FileDelta, Status

#: Characters of changed lines kept per file, for ranking and for showing to a model.
TEXT_CAP = 20_000
_SUBMODULE_MODE = "160000"
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_HEADER_KEYS = (
    "old mode ", "new mode ", "deleted file mode ", "new file mode ", "rename from ", "rename to ", "copy from ",
    "copy to ", "index ", "--- ", "+++ ", "Binary files ", "GIT binary patch",
)  # fmt: skip


class DiffError(ValueError):
    """The text is no git diff at all."""


@dataclass(slots=True)
class _Entry:
    """The lines of one `diff --git` entry."""

    title: str
    headers: dict[str, str] = field(default_factory=dict)
    hunks: list[str] = field(default_factory=list)


def read_diff(diff: str) -> tuple[FileDelta, ...]:
    """The changed files in order. Raises `DiffError` when text stands before the first `diff --git` line."""
    return tuple(_delta(entry) for entry in _entries(diff))


def _entries(diff: str) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            if entry is not None:
                yield entry
            entry = _Entry(line.removeprefix("diff --git "))
        elif entry is not None:
            _take(entry, line)
        elif line.strip():
            raise DiffError("the text does not start with a `diff --git` line; pass the output of `git diff`")
    if entry is not None:
        yield entry


def _take(entry: _Entry, line: str) -> None:
    if not entry.hunks and not line.startswith("@@ "):
        key = next((key for key in _HEADER_KEYS if line.startswith(key)), None)
        if key is not None:
            entry.headers[key.strip()] = line.removeprefix(key)
        return
    entry.hunks.append(line)


def _delta(entry: _Entry) -> FileDelta:
    old, new = _names(entry)
    modes = (value for key, value in entry.headers.items() if key.endswith(("mode", "index")))
    submodule = any(value.split()[-1:] == [_SUBMODULE_MODE] for value in modes)
    text, unreadable = _changed_lines(entry.hunks)
    if not new:
        unreadable = unreadable or f"file name not understood: {entry.title[:200]}"
    status = _status(entry, old, new)
    return FileDelta(new or entry.title[:200], old if old != new else None, status, text, submodule, unreadable)


def _names(entry: _Entry) -> tuple[str, str]:
    """Old and new name, empty when not understood; a created or deleted file has the same name twice."""
    headers = entry.headers
    if "rename from" in headers or "copy from" in headers:
        old = headers.get("rename from", headers.get("copy from", ""))
        return unquote(old), unquote(headers.get("rename to", headers.get("copy to", "")))
    for key, prefix in (("+++", "b/"), ("---", "a/")):
        # git ends names that contain blanks with a tab on these two lines
        name = unquote(headers.get(key, "").removesuffix("\t"))
        if name.startswith(prefix):
            return name[2:], name[2:]
    name = _title_name(entry.title)
    return name, name


def _title_name(title: str) -> str:
    """The name in `a/NAME b/NAME`. Without a rename both are equal, so the middle is where the second one starts."""
    middle = len(title) // 2
    old, new = unquote(title[:middle]), unquote(title[middle + 1 :])
    return new[2:] if old[:2] == "a/" and new[:2] == "b/" and old[2:] == new[2:] else ""


def unquote(name: str) -> str:
    """Undo git's C-style quoting of a file name; a name without quotes stands as it is."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    raw = _ESCAPE.sub(_unescape, name[1:-1])
    # octal escapes are bytes, everything else already is text
    return raw.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) == 1:
        return _ESCAPED.get(code, code)
    value = int(code, 8) & 0xFF
    return chr(value) if value < 0x80 else chr(0xDC00 + value)


def _status(entry: _Entry, old: str, new: str) -> Status:
    headers = entry.headers
    if "new file mode" in headers:
        return Status.ADDED
    if "deleted file mode" in headers:
        return Status.DELETED
    if old != new:
        return Status.RENAMED if "rename from" in headers else Status.ADDED
    if "Binary files" in headers or "GIT binary patch" in headers:
        return Status.BINARY
    return Status.MODE if "new mode" in headers and not entry.hunks else Status.MODIFIED


def _changed_lines(hunks: list[str]) -> tuple[str, str]:
    """The added and removed lines, capped, and why the hunks could not be read."""
    if not hunks:
        return "", ""
    try:
        patch = PatchSet("--- a\n+++ b\n" + "\n".join(hunks))
    except UnidiffParseError as error:
        return "", f"hunk not understood: {str(error)[:200]}"
    lines, room = [], TEXT_CAP
    for line in (line for file in patch for hunk in file for line in hunk if line.is_added or line.is_removed):
        lines.append(str(line)[: min(room, 2_000)].rstrip("\n"))
        room -= len(lines[-1]) + 1
        if room <= 0:
            break
    return "\n".join(lines), ""
