"""The commits of one repository in one SQLite file, filled once and then by what is new.

A cache: it can be deleted at any time and is rebuilt from git. Nothing but commit ids, times and paths is in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from selector.history.commits import Commit, read_commits

#: Raised when the tables change; a file of another version is filled anew.
_VERSION = 1
_BUSY_S = 60.0
_TABLES = """
DROP TABLE IF EXISTS touched; DROP TABLE IF EXISTS paths; DROP TABLE IF EXISTS commits; DROP TABLE IF EXISTS heads;
CREATE TABLE commits (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, seconds INTEGER NOT NULL);
CREATE TABLE paths (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE touched (
    path INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (path, position)
) WITHOUT ROWID;
CREATE INDEX touched_by ON touched (position, path);
CREATE TABLE heads (id TEXT PRIMARY KEY);
"""


class CommitStore:
    """Commits by position, parents before children. Safe for several processes on one file; close it after use.

    Raises `sqlite3.DatabaseError` when the file is no database of SQLite.
    """

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None)
        try:
            if self._one("PRAGMA user_version") != _VERSION:
                self._database.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def fill(self, repo: Path, head: str) -> int:
        """Read the commits up to `head` (a full commit id) that are not here yet; how many there were.

        Raises `TreeError` when git does not know the revision.
        """
        if self.position(head) is not None:
            return 0
        heads = [str(row[0]) for row in self._rows("SELECT id FROM heads")]
        return self.add(read_commits(repo, head, heads), head)

    def add(self, commits: Iterable[Commit], head: str) -> int:
        """Append commits in order, all or none, and remember `head` as read to the end; how many were new."""
        with closing(self._database.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                added = sum(_append(cursor, commit) for commit in commits)
                cursor.execute("INSERT OR IGNORE INTO heads VALUES (?)", (head,))
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")
        return added

    def position(self, commit: str) -> int | None:
        """The place of a commit in the order; `None` for one that was never read."""
        return self._one("SELECT position FROM commits WHERE id = ?", commit)

    def seconds(self, position: int) -> int:
        """When a commit was made, in seconds since the epoch."""
        return self._one("SELECT seconds FROM commits WHERE position = ?", position) or 0

    def touching(self, path: str, until: int, since_s: int, until_s: int) -> Iterator[Commit]:
        """Commits that touched `path`, up to the position `until` and made in a span of seconds, oldest first."""
        found = self._rows(
            "SELECT c.position, c.id, c.seconds FROM paths p JOIN touched t ON t.path = p.number "
            "JOIN commits c ON c.position = t.position "
            "WHERE p.path = ? AND c.position <= ? AND c.seconds BETWEEN ? AND ? ORDER BY c.position",
            path,
            until,
            since_s,
            until_s,
        )
        for position, commit, seconds in found:
            yield Commit(str(commit), int(seconds), self._files(int(position)))

    def _files(self, position: int) -> tuple[str, ...]:
        query = "SELECT p.path FROM touched t JOIN paths p ON p.number = t.path WHERE t.position = ? ORDER BY p.path"
        return tuple(str(row[0]) for row in self._rows(query, position))

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return self._database.execute(query, values).fetchall()

    def _one(self, query: str, *values: str | int) -> int | None:
        row = self._database.execute(query, values).fetchone()
        return None if row is None else int(row[0])


def _append(cursor: sqlite3.Cursor, commit: Commit) -> bool:
    """Add one commit; `False` when another process already has."""
    cursor.execute("INSERT OR IGNORE INTO commits (id, seconds) VALUES (?, ?)", (commit.id, commit.seconds))
    if not cursor.rowcount:
        return False
    position = cursor.lastrowid
    cursor.executemany("INSERT OR IGNORE INTO paths (path) VALUES (?)", [(path,) for path in commit.files])
    cursor.executemany(
        "INSERT OR IGNORE INTO touched SELECT number, ? FROM paths WHERE path = ?",
        [(position, path) for path in commit.files],
    )
    return True
