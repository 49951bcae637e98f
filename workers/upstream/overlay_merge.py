"""What stands at one changed path on each side of a comparison, from the installed wheel's file, the base commit's and
the head commit's.

Pure but for the merging itself, which is git's. The answer never makes both sides alike where the change is a change:
an installed torch that already has it would otherwise be compared with itself. Where no honest pair of files exists,
the answer is `SkewError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from workers.upstream.git import Git

_CONFLICT_LIMIT = 127

#: Merges the difference from the second text to the third into the first.
Merge = Callable[[bytes, bytes, bytes], bytes]


class SkewError(Exception):
    """Tree and wheel differ where the change is, so that testing it here would answer another question."""


class UnmergeableError(Exception):
    """Three texts do not merge; the message is the middle of a sentence about the file."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The files of both sides (None: no file), and what a reader of the report should know; empty mostly."""

    base: bytes | None
    head: bytes | None
    note: str = ""


def settle(path: PurePosixPath, wheel: bytes | None, base: bytes | None, head: bytes | None, merge: Merge) -> Settled:
    """The pair of files for one path. `wheel`, `base` and `head` are its content there, None where it is absent.

    Raises:
        SkewError: with a sentence that names the file.
    """
    if base == head:
        return Settled(wheel, wheel)
    if wheel is None and base is not None and path.suffix != ".py":
        # Upstream keeps files below torch/ that no wheel ships (build helpers, notes): only Python matters then.
        return Settled(None, None)
    if wheel == base:
        return Settled(base, head)
    if wheel == head:
        return Settled(base, head, f"The installed torch already has the change of {path}; base runs without it.")
    if wheel is None:
        raise SkewError(skew_sentence(path, "is changed, but the wheel does not have it"))
    if base is None:
        raise SkewError(skew_sentence(path, "is added by the change, but the wheel has another file of that name"))
    if head is None:
        raise SkewError(skew_sentence(path, "is removed by the change, but the wheel's differs from the base commit's"))
    return _merged(path, wheel, base, head, merge)


def _merged(path: PurePosixPath, wheel: bytes, base: bytes, head: bytes, merge: Merge) -> Settled:
    """The wheel with the change and the wheel without it. The second is the wheel itself, unless the wheel has the
    change already, whole or in part: then it is taken out again."""
    try:
        with_change = merge(wheel, base, head)
    except UnmergeableError as error:
        raise SkewError(skew_sentence(path, f"{error} the wheel's version of the file")) from error
    try:
        without = merge(with_change, head, base)
    except UnmergeableError:
        without = wheel
    if with_change == without:
        raise SkewError(skew_sentence(path, "differs in the wheel so that the change cannot be told from it"))
    note = f"{path} differs between the base commit and the installed torch; the change was merged into the latter"
    note += "." if without == wheel else ", which had it at least in part: base runs without it."
    return Settled(without, with_change, note)


def skew_sentence(path: PurePosixPath, what: str) -> str:
    """One sentence about a file, and the next step."""
    return f"{path} {what}. Test it with a torch wheel built nearer to the base commit."


def git_merge(git: Git) -> Merge:
    """`git merge-file`: exit code 0 is clean, up to 127 counts conflicts, beyond it the files are not text."""

    def merge(ours: bytes, origin: bytes, theirs: bytes) -> bytes:
        with TemporaryDirectory(prefix="merge-") as folder:
            names = [Path(folder) / name for name in ("ours", "origin", "theirs")]
            for name, content in zip(names, (ours, origin, theirs), strict=True):
                name.write_bytes(content)
            done = git.run("merge-file", "-p", "--quiet", *map(str, names), accept=())
        if done.returncode != 0:
            raise UnmergeableError("conflicts with" if done.returncode <= _CONFLICT_LIMIT else "cannot be merged into")
        return done.stdout

    return merge
