"""The tested tree: the installed torch wheel plus a change of its Python files, with nothing compiled.

Both sides of a comparison are such trees, over the same set of files (`overlay_merge` says what stands where), so that
an upstream tree somewhat newer or older than the wheel can still be tested; where the answer would be about the
difference between tree and wheel, the change is not tested (`SkewError`).

A side is a copy-on-write tree: unchanged entries are symbolic links into the wheel, changed files and the folders
above them are real. The wheel is never written to, and torch is never imported here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from selector.change import Category
from selector.change.classify import classify
from workers.upstream.changed_files import ChangedEntry, Side
from workers.upstream.git import Git, checked_sha
from workers.upstream.overlay_merge import Settled, SkewError, git_merge, settle, skew_sentence

#: Packages that the torch wheel installs and that upstream keeps as Python in folders of the same name.
PACKAGES = ("torch", "torchgen", "functorch")

_BUILT = {Category.NATIVE, Category.CODEGEN, Category.BUILD, Category.SUBMODULE}
# Compiled, generated from, or compiled at run time from sources the wheel carries in another shape.
_BUILT_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".in", ".inc", ".inl", ".m", ".mm"}
    | {".asm", ".bzl", ".cmake", ".glsl", ".metal", ".proto", ".s", ".thrift"}
)
_NAMED = 5


class WheelMissingError(Exception):
    """The torch wheel is not installed in this environment."""


def installed_wheel() -> Path:
    """The folder that holds `torch/`, found without importing it. Raises `WheelMissingError`."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise WheelMissingError("torch is not installed here. Install the project with its `emulator` extra.")
    return Path(found.origin).parent.parent.resolve()


def needs_build(entries: Iterable[ChangedEntry], harmless: Collection[str]) -> str:
    """Which of these entries cannot be tested on an installed wheel, as a clause; empty when all can. `harmless` are
    paths of which stage 1 is certain that the change means nothing (comments only)."""
    sides = [side for entry in entries for side in (entry.base, entry.head)]
    files = list(dict.fromkeys(side.path for side in sides if side.path not in harmless and _is_built(side)))
    if not files:
        return ""
    named = ", ".join(files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return f"The change touches what is compiled or generated at build time ({named}{more})"


def _is_built(side: Side) -> bool:
    path = PurePosixPath(side.path)
    if path.parts[0] == "test":  # tests compile what they bring along themselves
        return False
    category = Category.SUBMODULE if side.submodule else classify(side.path)
    if category is Category.UNCLASSIFIED:
        return path.parts[0] in PACKAGES and path.suffix in _BUILT_SUFFIXES
    return category in _BUILT


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands at a path of the overlay instead of the wheel's file; `content` is None where it is removed."""

    path: PurePosixPath
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Overlay:
    """The replacements of one change on either side, for the same paths, so that the two torches differ in nothing but
    the change; and what a reader of the report should know about them."""

    base: tuple[Replacement, ...]
    head: tuple[Replacement, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the change leaves the shipped packages alone: the plain wheel is the tested torch of both sides."""
        return not self.head


@dataclass(frozen=True, slots=True)
class OverlayPlanner:
    """Works out what has to stand over the wheel. Blobs are read from `git`'s repository."""

    git: Git
    wheel: Path

    def plan(self, entries: Iterable[ChangedEntry]) -> Overlay:
        """Raises `SkewError` with a sentence that names the file, and `GitError`."""
        settled: dict[PurePosixPath, Settled] = {}
        for entry in entries:
            settled.update(self._settled(entry))
        changed = {path: pair for path, pair in settled.items() if pair.base != pair.head}
        return Overlay(
            base=tuple(Replacement(path, pair.base) for path, pair in changed.items()),
            head=tuple(Replacement(path, pair.head) for path, pair in changed.items()),
            notes=tuple(pair.note for pair in changed.values() if pair.note),
        )

    def _settled(self, entry: ChangedEntry) -> dict[PurePosixPath, Settled]:
        before = _packaged(entry.base.path) if entry.base.present else None
        after = _packaged(entry.head.path) if entry.head.present else None
        base = self._blob(before, entry.base) if before is not None else None
        head = self._blob(after, entry.head) if after is not None else None
        if before is not None and after is not None and before != after:
            return self._moved(before, after, base, head)
        path = after or before
        return {} if path is None else {path: settle(path, self._shipped(path), base, head, git_merge(self.git))}

    def _moved(
        self, before: PurePosixPath, after: PurePosixPath, base: bytes | None, head: bytes | None
    ) -> dict[PurePosixPath, Settled]:
        """A rename, which may change the file too: gone from one path and there at another, on head only."""
        origin, target = self._shipped(before), self._shipped(after)
        if target not in (None, head):
            raise SkewError(skew_sentence(after, "is added by the change, but the wheel has another file of that name"))
        if origin is None and target is not None:
            note = f"The installed torch already has {before} as {after}; base runs with it as it was."
            return {before: Settled(base, None), after: Settled(None, head, note)}
        if origin is None and after.suffix == ".py":
            raise SkewError(skew_sentence(before, "is moved by the change, but the wheel does not have it"))
        pair = Settled(origin, origin) if base == head else settle(after, origin, base, head, git_merge(self.git))
        return {before: Settled(pair.base, None), after: Settled(None, pair.head, pair.note)}

    def _shipped(self, path: PurePosixPath) -> bytes | None:
        file = self.wheel / path
        return file.read_bytes() if file.is_file() else None

    def _blob(self, path: PurePosixPath, side: Side) -> bytes:
        if not side.regular:
            raise SkewError(skew_sentence(path, "is a symbolic link or a submodule, which is not followed"))
        return self.git.output("cat-file", "blob", checked_sha(side.blob))


def _packaged(path: str) -> PurePosixPath | None:
    """The path inside the overlay, or None for a file that belongs to no shipped package. Escapes are refused."""
    pure = PurePosixPath(path)
    if not pure.parts or pure.parts[0] not in PACKAGES or len(pure.parts) < 2:
        return None
    if ".." in pure.parts or "\0" in path:
        raise SkewError(skew_sentence(pure, "is not a path inside the tree"))
    if "__pycache__" in pure.parts:
        # Bytecode next to no source of its own would shadow what is tested.
        raise SkewError(skew_sentence(pure, "is compiled bytecode, which is not taken from a change"))
    return pure


@dataclass(slots=True)
class _Folder:
    """A folder of the overlay that must be real, because something below it is replaced."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    folders: dict[str, _Folder] = field(default_factory=dict)


def build_overlay(replacements: Sequence[Replacement], wheel: Path, destination: Path) -> Path | None:
    """Write the overlay into `destination` (which must not exist yet) and return the path to put first on
    `PYTHONPATH`; None when nothing is replaced and the plain wheel is the tested tree.
    """
    if not replacements:
        return None
    root = _Folder()
    for replacement in replacements:
        folder = root
        for part in replacement.path.parts[:-1]:
            folder = folder.folders.setdefault(part, _Folder())
        folder.files[replacement.path.name] = replacement.content
    destination.mkdir(parents=True)
    for name, package in root.folders.items():
        _write_folder(package, wheel / name, destination / name)
    return destination


def _write_folder(folder: _Folder, original: Path, copy: Path) -> None:
    """One real folder. It is made fresh, so no link of the wheel or of the change can stand where a file is written."""
    copy.mkdir()
    replaced = {*folder.files, *folder.folders, "__pycache__"}
    for entry in _entries(original):
        if entry.name not in replaced:
            (copy / entry.name).symlink_to(entry)
    _link_caches(original / "__pycache__", copy / "__pycache__", folder.files)
    written = {name: content for name, content in folder.files.items() if content is not None}
    for name, content in written.items():
        with (copy / name).open("xb") as file:
            file.write(content)
    for name in folder.folders.keys() - written.keys():  # a file may have taken the place of a folder
        _write_folder(folder.folders[name], original / name, copy / name)


def _link_caches(original: Path, copy: Path, changed: Iterable[str]) -> None:
    """A cache folder of its own, so that bytecode is never shared with another tree; in it, links to the wheel's
    bytecode of unchanged modules. That of a changed one would be taken for it when size and time happen to agree."""
    copy.mkdir()
    stems = tuple(f"{name.removesuffix('.py')}." for name in changed)
    for entry in _entries(original):
        if not entry.name.startswith(stems):
            (copy / entry.name).symlink_to(entry)


def _entries(folder: Path) -> Sequence[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()
