"""A repository's history as stage 2 gets it: read up to the base of one change, or a sentence why there is none.

Owns what becomes of a repository that has no usable past (shallow, or cloned without trees) and of a store that is
damaged or of no use: none of it is an error, because a selection without a history is one that knows less.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from selector.history.cochange import CoChange
from selector.history.store import CommitStore
from selector.trees import TreeError, run_git


@contextmanager
def read_history(file: Path, repo: Path, base: str, say: Callable[[str], None]) -> Iterator[CoChange | None]:
    """What changed together before `base`, a full commit id of `repo`, from the store in `file`, which is filled by
    what is new. `None`, and a sentence for `say`, when that cannot be told."""
    store = _filled(file, repo, base, say)
    if store is None:
        yield None
        return
    with store:
        yield CoChange(store, base)


def _filled(file: Path, repo: Path, base: str, say: Callable[[str], None]) -> CommitStore | None:
    try:
        if reason := _no_past(repo):
            say(f"co-change is not known: {reason}")
            return None
        return _opened(file, repo, base)
    except (TreeError, sqlite3.Error, OSError) as error:
        say(f"co-change is not known: {error}")
        return None


def _opened(file: Path, repo: Path, base: str) -> CommitStore:
    """The store, filled. One that SQLite cannot read is removed and filled anew: it holds nothing that git has not."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _fill(CommitStore(file), repo, base)
    except sqlite3.OperationalError:
        raise  # busy, or no room: not the file's fault
    except sqlite3.DatabaseError:
        file.unlink(missing_ok=True)
        return _fill(CommitStore(file), repo, base)


def _fill(store: CommitStore, repo: Path, base: str) -> CommitStore:
    try:
        store.fill(repo, base)
    except BaseException:
        store.close()
        raise
    return store


def _no_past(repo: Path) -> str:
    """Why the commits of `repo` do not tell which files they touched; empty when they do."""
    if run_git(repo, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return "the repository is a shallow clone; `git fetch --unshallow` brings the rest"
    if _is_treeless(repo):
        return "the repository is a clone without trees, and git would fetch each of them over the network"
    return ""


def _is_treeless(repo: Path) -> bool:
    """A partial clone with a filter of trees; one of blobs has all that is needed."""
    try:
        filters = run_git(repo, "config", "--get-regexp", r"^remote\..*\.partialclonefilter$")
    except TreeError:
        return False  # no such setting
    return any(line.split()[-1].startswith(b"tree:") for line in filters.splitlines() if line.strip())
