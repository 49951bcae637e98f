"""The tested tree: the installed torch wheel plus a change of its Python files, with nothing compiled.

Every changed file under the shipped packages is the three-way merge of the wheel's file, the base commit's and the
head commit's, so that an upstream tree somewhat newer than the wheel can still be tested; where the three disagree the
answer would be about the difference between tree and wheel, and the change is not tested (`SkewError`).

The result is a copy-on-write tree: unchanged entries are symbolic links into the wheel, changed files and the folders
above them are real. The wheel is never written to, and torch is never imported here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from selector.change import Category
from selector.change.classify import classify
from workers.changed_files import ChangedEntry, Side
from workers.git import Git, checked_sha

#: Packages that the torch wheel installs and that upstream keeps as Python in folders of the same name.
PACKAGES = ("torch", "functorch")

_BUILT = {Category.NATIVE, Category.CODEGEN, Category.BUILD, Category.SUBMODULE}
# Compiled, generated from, or compiled at run time from sources the wheel carries in another shape.
_BUILT_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".in", ".inc", ".inl", ".m", ".mm"}
    | {".asm", ".bzl", ".cmake", ".glsl", ".metal", ".proto", ".s", ".thrift"}
)
_NAMED = 5
_CONFLICT_LIMIT = 127


class SkewError(Exception):
    """Tree and wheel differ where the change is, so that testing it here would answer another question."""


class WheelMissingError(Exception):
    """The torch wheel is not installed in this environment."""


def installed_wheel() -> Path:
    """The folder that holds `torch/`, found without importing it. Raises `WheelMissingError`."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise WheelMissingError("torch is not installed here. Install the project with its `emulator` extra.")
    return Path(found.origin).parent.parent.resolve()


def needs_build(entries: Iterable[ChangedEntry], harmless: Collection[str]) -> str:
    """Why these entries cannot be tested on an installed wheel; empty when they can. `harmless` are paths of which
    stage 1 is certain that the change means nothing (comments only)."""
    sides = [side for entry in entries for side in (entry.base, entry.head)]
    files = list(dict.fromkeys(side.path for side in sides if side.path not in harmless and _is_built(side)))
    if not files:
        return ""
    named = ", ".join(files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return (
        f"The change touches what is compiled or generated at build time ({named}{more}), and no build is configured."
    )


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
    """The replacements of one change, and what a reader of the report should know about them."""

    replacements: tuple[Replacement, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OverlayPlanner:
    """Works out what has to stand over the wheel. Blobs are read from `git`'s repository."""

    git: Git
    wheel: Path

    def plan(self, entries: Iterable[ChangedEntry]) -> Overlay:
        """Raises `SkewError` with a sentence that names the file, and `GitError`."""
        replacements: dict[PurePosixPath, Replacement] = {}
        notes: list[str] = []
        for entry in entries:
            for replacement in self._replacements(entry):
                replacements[replacement.path] = replacement
                if replacement.content is not None and replacement.content == self._shipped(replacement.path):
                    notes.append(f"The installed torch already has the change of {replacement.path}.")
        return Overlay(tuple(replacements.values()), tuple(notes))

    def _replacements(self, entry: ChangedEntry) -> Iterable[Replacement]:
        base, head = _packaged(entry.base.path), _packaged(entry.head.path)
        if base is not None and (base != head or not entry.head.present):
            yield from self._removal(base, entry.base)
        if head is not None and entry.head.present:
            yield from self._content(head, base, entry)

    def _removal(self, path: PurePosixPath, side: Side) -> Iterable[Replacement]:
        shipped = self._shipped(path)
        if shipped is None:
            return
        if shipped != self._blob(path, side):
            raise SkewError(
                _skew_sentence(path, "is removed by the change, but the wheel's differs from the base commit's")
            )
        yield Replacement(path, None)

    def _content(self, path: PurePosixPath, origin: PurePosixPath | None, entry: ChangedEntry) -> Iterable[Replacement]:
        head, base = self._blob(path, entry.head), self._blob(path, entry.base)
        shipped = self._shipped(origin or path)
        if shipped is None and base is not None:
            # Upstream keeps files below torch/ that no wheel ships (build helpers, notes): only Python matters then.
            if path.suffix == ".py":
                raise SkewError(_skew_sentence(path, "is changed, but the wheel does not have it"))
        elif shipped in (base, head) and head is not None:
            yield Replacement(path, head)
        elif base is None:
            raise SkewError(_skew_sentence(path, "is added by the change, but the wheel has another file of that name"))
        elif shipped is not None and head is not None:
            yield Replacement(path, self._merged(path, shipped, base, head))

    def _merged(self, path: PurePosixPath, ours: bytes, base: bytes, theirs: bytes) -> bytes:
        """`git merge-file`: exit code 0 is clean, up to 127 counts conflicts, beyond it the files are not text."""
        with TemporaryDirectory(prefix="merge-") as folder:
            names = [Path(folder) / name for name in ("wheel", "base", "head")]
            for name, content in zip(names, (ours, base, theirs), strict=True):
                name.write_bytes(content)
            arguments = ("merge-file", "-p", "--quiet", *map(str, names))
            done = self.git.run(*arguments, accept=())
        if done.returncode != 0:
            what = "conflicts with" if done.returncode <= _CONFLICT_LIMIT else "cannot be merged into"
            raise SkewError(_skew_sentence(path, f"{what} the wheel's version of the file"))
        return done.stdout

    def _shipped(self, path: PurePosixPath) -> bytes | None:
        file = self.wheel / path
        return file.read_bytes() if file.is_file() else None

    def _blob(self, path: PurePosixPath, side: Side) -> bytes | None:
        """A side's content, None where it is absent."""
        if not side.present:
            return None
        if not side.regular:
            raise SkewError(_skew_sentence(path, "is a symbolic link or a submodule, which is not followed"))
        return self.git.output("cat-file", "blob", checked_sha(side.blob))


def _packaged(path: str) -> PurePosixPath | None:
    """The path inside the overlay, or None for a file that belongs to no shipped package. Escapes are refused."""
    pure = PurePosixPath(path)
    if not pure.parts or pure.parts[0] not in PACKAGES or len(pure.parts) < 2:
        return None
    if ".." in pure.parts or "\0" in path:
        raise SkewError(_skew_sentence(pure, "is not a path inside the tree"))
    if "__pycache__" in pure.parts:
        # Bytecode next to no source of its own would shadow what is tested.
        raise SkewError(_skew_sentence(pure, "is compiled bytecode, which is not taken from a change"))
    return pure


def _skew_sentence(path: PurePosixPath, what: str) -> str:
    return f"{path} {what}. Test it with a torch wheel built nearer to the base commit."


@dataclass(slots=True)
class _Folder:
    """A folder of the overlay that must be real, because something below it is replaced."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    folders: dict[str, _Folder] = field(default_factory=dict)


def build_overlay(overlay: Overlay, wheel: Path, destination: Path) -> Path | None:
    """Write the overlay into `destination` (which must not exist yet) and return the path to put first on
    `PYTHONPATH`; None when the change leaves the shipped packages alone and the plain wheel is the tested tree.
    """
    if not overlay.replacements:
        return None
    root = _Folder()
    for replacement in overlay.replacements:
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
    for name, content in folder.files.items():
        if content is not None:
            with (copy / name).open("xb") as file:
                file.write(content)
    for name, below in folder.folders.items():
        _write_folder(below, original / name, copy / name)


def _link_caches(original: Path, copy: Path, changed: Iterable[str]) -> None:
    """A cache folder of its own, so that Python writes there; links to the wheel's bytecode of unchanged modules."""
    copy.mkdir()
    stems = {name.removesuffix(".py") for name in changed}
    for entry in _entries(original):
        if entry.name.split(".")[0] not in stems:
            (copy / entry.name).symlink_to(entry)


def _entries(folder: Path) -> Sequence[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()
