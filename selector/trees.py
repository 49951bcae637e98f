"""Source trees as the stages read them: a folder, or one revision of a git repository.

Owns the rule that a path of a tree is only ever a key: a folder is read inside its root, a revision by object id; and
the identity of a file's content, which is git's blob id in both, so that what is known of one is known of the other. It
writes nothing and checks out nothing. Untrusted trees are expected: files over `FILE_CAP`, links, and bytes that are
not UTF-8 read as `None`, which the stages take as "cannot be judged", never as "empty".
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import subprocess
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol, Self, runtime_checkable

#: Bytes of one source file; PyTorch's largest Python file has 1.2 MB.
FILE_CAP = 8 * 1024 * 1024
#: Bytes of one diff; a whole minor release of PyTorch has about 20 MB.
DIFF_CAP = 64 * 1024 * 1024
GIT_TIMEOUT_S = 300

#: Objects asked for at once. More would save nothing: an answer takes longer to read than a question to write.
_BATCH = 32
#: How an entry of `git ls-tree` begins for a regular file.
_REGULAR = ("100644 blob ", "100755 blob ")
_LINK = "120000 blob "


class TreeError(Exception):
    """A tree or a diff cannot be read at all; the message says what git or the system answered."""


class SourceTree(Protocol):
    """One state of an upstream source tree. Paths are relative, with forward slashes."""

    def read(self, path: str) -> str | None:
        """The text of a regular file, or `None` when there is none, it is too large or not UTF-8."""

    def paths(self) -> Sequence[str]:
        """All regular files, sorted."""


class SourceFile(NamedTuple):
    """One file as it was read: what `read` gives for the path, and the id of the content that this is."""

    path: str
    blob_id: str | None
    text: str | None


@runtime_checkable
class IdentifiedTree(SourceTree, Protocol):
    """A tree that knows a file's content by its git blob id, and can read many files at once."""

    def blob_id(self, path: str) -> str | None:
        """The id of the file's content now, or `None` when there is no such file."""

    def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
        """The files in the order asked for, each with the id of the very content that was read."""


@runtime_checkable
class NamedTree(SourceTree, Protocol):
    """A tree that git knows by an id."""

    def tree_id(self) -> str:
        """The id of the whole tree. Raises `TreeError` when git cannot tell it."""


@runtime_checkable
class LinkedTree(SourceTree, Protocol):
    """A tree that knows its symbolic links. They are no files of it; who wants to follow one decides how."""

    def links(self) -> Mapping[str, str]:
        """By the path of each link the path inside the tree that it means; without those that lead out of it."""


def tree_id_of(tree: SourceTree) -> str | None:
    """The git id of a tree, `None` for one that has none, such as a folder."""
    return tree.tree_id() if isinstance(tree, NamedTree) else None


def blob_id_of(content: bytes) -> str:
    """The id git gives a blob with this content in a repository of the usual object format (SHA-1)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def as_text(content: bytes) -> str | None:
    """UTF-8 text without byte order mark, or `None` for anything else, binary content included."""
    if len(content) > FILE_CAP or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


class DirectoryTree:
    """The files of a folder. Links are left out, so nothing outside the folder is ever read."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def read(self, path: str) -> str | None:
        content = self._content(path)
        return None if content is None else as_text(content)

    def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
        """One by one: the system's file cache leaves nothing to gain."""
        for path in paths:
            content = self._content(path)
            text = None if content is None else as_text(content)
            yield SourceFile(path, None if content is None else _id_of_whole(content), text)

    def blob_id(self, path: str) -> str | None:
        """Takes reading the file: its size and time of change would be quicker and can lie. `None` for a file over
        `FILE_CAP` too."""
        content = self._content(path)
        return None if content is None else _id_of_whole(content)

    def _content(self, path: str) -> bytes | None:
        """The first `FILE_CAP` bytes of a regular file and one more if there are more."""
        target = self._root.joinpath(*PurePosixPath(path).parts)
        if PurePosixPath(path).is_absolute() or target.is_symlink() or not self._is_inside(target):
            return None
        try:
            with target.open("rb") as stream:
                return stream.read(FILE_CAP + 1)
        except OSError:
            return None

    def _is_inside(self, target: Path) -> bool:
        try:
            return target.is_file() and target.resolve().is_relative_to(self._root)
        except (OSError, ValueError):  # ValueError: a name with a NUL byte
            return False

    def paths(self) -> Sequence[str]:
        return sorted(path for entry, path in self._walk() if entry.is_file(follow_symlinks=False))

    def _walk(self) -> Iterator[tuple[os.DirEntry[str], str]]:
        """Everything in the folder that is no folder itself, with its path."""
        waiting: list[tuple[os.PathLike[str], str]] = [(self._root, "")]
        while waiting:
            folder, prefix = waiting.pop()
            for entry in _entries(folder):
                if not entry.is_dir(follow_symlinks=False):
                    yield entry, prefix + entry.name
                elif entry.name != ".git":
                    waiting.append((entry, f"{prefix}{entry.name}/"))

    def links(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for entry, path in self._walk():
            if entry.is_symlink():
                try:
                    found.update(_inside(path, os.readlink(entry)))
                except OSError:
                    continue  # gone since the folder was listed
        return found


def _inside(link: str, target: str) -> Iterator[tuple[str, str]]:
    """The link and what it means from the root of its tree, if that is inside."""
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(link), target))
    if not posixpath.isabs(target) and meant != "." and not meant.startswith(".."):
        yield link, meant


def _entries(folder: os.PathLike[str]) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing for one that is gone or not ours to read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


class GitTree:
    """The tree of one revision, read through a single `git cat-file --batch`.

    The listing is taken once; files are then asked for by object id, so no path ever reaches git. Not for use by two
    threads. Closing is optional: the process ends with the object. Raises `TreeError` for an unknown revision.
    """

    def __init__(self, repo: Path, rev: str) -> None:
        self._repo = repo
        self._rev = rev
        self._objects = _listed(repo, rev, _REGULAR)
        self._batch: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], GitTree] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process; the next read starts a new one."""
        if self._finalizer is not None:
            self._finalizer()
        self._batch = self._finalizer = None

    def paths(self) -> Sequence[str]:
        return sorted(self._objects)

    def tree_id(self) -> str:
        revision = f"{self._rev}^{{tree}}"
        return run_git(self._repo, "rev-parse", "--verify", "--end-of-options", revision).decode("ascii").strip()

    def blob_id(self, path: str) -> str | None:
        return self._objects.get(path)

    def read(self, path: str) -> str | None:
        (file,) = self.read_all([path])
        return file.text

    def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
        """A batch of files per round trip to git, which on a busy machine costs more than the reading."""
        for start in range(0, len(paths), _BATCH):
            batch = paths[start : start + _BATCH]
            objects = dict.fromkeys(self._objects[path] for path in batch if path in self._objects)
            texts = {object_id: as_text(content) for object_id, content in self._fetch(tuple(objects))}
            for path in batch:
                object_id = self._objects.get(path)
                yield SourceFile(path, object_id, texts[object_id] if object_id else None)

    def links(self) -> Mapping[str, str]:
        listed = _listed(self._repo, self._rev, (_LINK,))
        targets = dict(self._fetch(tuple(dict.fromkeys(listed.values()))))
        found: dict[str, str] = {}
        for link, object_id in listed.items():
            if target := as_text(targets[object_id]):
                found.update(_inside(link, target))
        return found

    def _fetch(self, object_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Each object with its content, a NUL byte for one that is missing: a partial clone may lack it."""
        if not object_ids:
            return
        requests, answers = self._pipes()
        try:
            requests.write("".join(f"{object_id}\n" for object_id in object_ids).encode())
            requests.flush()
        except BrokenPipeError as error:
            raise TreeError(f"git cat-file ended while reading {self._repo}; is the repository complete?") from error
        for object_id in object_ids:
            header = answers.readline().split()
            yield object_id, _read_capped(answers, int(header[2])) if len(header) == 3 else b"\0"

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._batch is None:
            command = _git(self._repo, "cat-file", "--batch")
            self._batch = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
            self._finalizer = weakref.finalize(self, _end, self._batch)
        if self._batch.stdin is None or self._batch.stdout is None:
            raise TreeError("git cat-file was started without pipes")
        return self._batch.stdin, self._batch.stdout


def git_diff(repo: Path, base: str, head: str) -> str:
    """The unified diff of two revisions, independent of the user's git configuration and of drivers the repository
    names in its attributes. Bytes that are not UTF-8 become U+FFFD.

    Raises `TreeError` for unknown revisions and for a diff over `DIFF_CAP`.
    """
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--full-index", "--find-renames", "--unified=3")
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none")
    output = run_git(repo, "diff", *flags, *prefixes, "--end-of-options", base, head, "--")
    if len(output) > DIFF_CAP:
        raise TreeError(f"the diff has {len(output)} bytes, more than {DIFF_CAP}; select on a smaller range")
    return output.decode("utf-8", errors="replace")


def _id_of_whole(content: bytes) -> str | None:
    return blob_id_of(content) if len(content) <= FILE_CAP else None


def _listed(repo: Path, rev: str, kinds: tuple[str, ...]) -> Mapping[str, str]:
    """The object ids of the entries of a revision that begin as one of `kinds`, by path."""
    listing = run_git(repo, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", rev)
    objects: dict[str, str] = {}
    for entry in listing.decode("utf-8", errors="replace").split("\0"):
        if entry.startswith(kinds):
            facts, _, path = entry.partition("\t")
            objects[path] = facts.rpartition(" ")[2]
    return objects


def _git(repo: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(repo), "-c", "core.quotePath=off", *arguments]


def _environment() -> dict[str, str]:
    """Ours without GIT_*, which may point git at another repository (a hook's environment does)."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**inherited, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def run_git(repo: Path, *arguments: str) -> bytes:
    """What git prints, free of the caller's GIT_* variables. Raises `TreeError` with git's answer when it fails."""
    try:
        done = subprocess.run(
            _git(repo, *arguments), capture_output=True, check=False, timeout=GIT_TIMEOUT_S, env=_environment()
        )
    except FileNotFoundError as error:
        raise TreeError("git is not installed; install it and try again") from error
    except subprocess.TimeoutExpired as error:
        raise TreeError(f"git {arguments[0]} took more than {GIT_TIMEOUT_S} s in {repo}") from error
    if done.returncode:
        answer = done.stderr.decode("utf-8", errors="replace").strip()[:500]
        raise TreeError(f"git {arguments[0]} failed in {repo}: {answer}")
    return done.stdout


def _read_capped(answers: IO[bytes], size: int) -> bytes:
    """One object of the batch answer and its newline. What is over the cap is read past, to stay in step."""
    content = answers.read(min(size, FILE_CAP + 1))
    rest = size - len(content) + 1
    while rest > 0 and (skipped := answers.read(min(rest, 1 << 20))):
        rest -= len(skipped)
    return content


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.kill()
    process.wait()
