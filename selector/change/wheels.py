"""The source in a torch wheel as a tree: an archive as it is downloaded, or the folder it is installed in.

For comparing two versions. Compiled libraries are left out, of which nothing can be read; the headers and operator
lists that the wheel carries stand for them. There is no `test/` in a wheel.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from selector.trees import FILE_CAP, DirectoryTree, TreeError, as_text

PACKAGES = ("torch", "torchgen", "functorch")
_COMPILED = (".a", ".dll", ".dylib", ".exe", ".lib", ".o", ".pyc", ".pyd", ".so")


class InstalledWheel:
    """The packages of torch in a folder of installed packages."""

    def __init__(self, root: Path) -> None:
        self._trees = {name: DirectoryTree(root / name) for name in PACKAGES if (root / name).is_dir()}
        if "torch" not in self._trees:
            raise TreeError(f"no torch is installed in {root}; give the folder that holds `torch/`")

    def read(self, path: str) -> str | None:
        package, _, rest = path.partition("/")
        return self._trees[package].read(rest) if package in self._trees else None

    def paths(self) -> Sequence[str]:
        found = (f"{package}/{path}" for package, tree in self._trees.items() for path in tree.paths())
        return sorted(filter(_is_source, found))


class WheelArchive:
    """The packages of torch in a `.whl` file, which is not unpacked. Close it when it is read."""

    def __init__(self, file: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(file)
        except (OSError, zipfile.BadZipFile) as error:
            raise TreeError(f"{file} is no wheel that can be read: {error}") from error
        inside = tuple(f"{package}/" for package in PACKAGES)
        names = (entry.filename for entry in self._archive.infolist() if not entry.is_dir())
        self._paths = sorted(name for name in names if name.startswith(inside) and _is_source(name))

    def __enter__(self) -> WheelArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def read(self, path: str) -> str | None:
        try:
            with self._archive.open(path) as stream:
                return as_text(stream.read(FILE_CAP + 1))
        except (KeyError, zipfile.BadZipFile):
            return None

    def paths(self) -> Sequence[str]:
        return self._paths


def open_wheel(path: Path) -> InstalledWheel | WheelArchive:
    """The tree of a `.whl` file or of a folder. Raises `TreeError` when there is no torch in it."""
    return WheelArchive(path) if path.suffix == ".whl" else InstalledWheel(path)


def _is_source(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "__pycache__/" not in path and not path.endswith(_COMPILED) and ".so." not in name and "/bin/" not in path
