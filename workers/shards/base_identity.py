"""What the observations on a base depend on, as one digest: the same digest means that a test would do the same again.

Owns which parts go in. Too many only cost a test run on base; a missing one could excuse a regression, so whatever is
not known to be harmless is part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from workers.runner.types import Installation
from workers.upstream.git import Git, checked_sha
from workers.upstream.overlay import PACKAGES, Replacement

_OWN_SOURCES = ("models", "runner", "spyre")
_OWN_SUFFIXES = frozenset({".py", ".cpp", ".h", ".toml"})


def base_identity(git: Git, base_sha: str, replacements: Iterable[Replacement], environment: str) -> str:
    """The digest of one base: its tree, what of it is laid over the wheel, and the environment. Raises `GitError`."""
    return _digest("base 1", tree_digest(git, base_sha), overlay_digest(replacements), environment)


def tree_digest(git: Git, base_sha: str) -> str:
    """All of the base's tree but the packages that a wheel ships: those are never imported from the tree, and what of
    them is tested is in the overlay.

    Not finer, although a test uses few files: tests import helpers from `test/` by computed names, open files beside
    them and read sources elsewhere in the tree (`native_functions.yaml`, `tools/`), which no list of imports shows.
    """
    entries = git.output("ls-tree", "-z", "--full-tree", checked_sha(base_sha)).split(b"\0")
    shipped = {package.encode() for package in PACKAGES}
    return _digest(*(entry for entry in entries if entry.partition(b"\t")[2] not in shipped))


def overlay_digest(replacements: Iterable[Replacement]) -> str:
    """The files that stand over the wheel's on the base side."""
    parts = sorted((str(one.path), b"removed" if one.content is None else one.content) for one in replacements)
    return _digest(*(part for path, content in parts for part in (path, content)))


def environment_digest(installation: Installation, wheel: Path, sandbox: str) -> str:
    """The Python, what is installed beside the wheel with its versions and torch's commit, the device's library and
    profile, the weights of models, how processes are confined, and our own runner."""
    installed = sorted(path.name for path in wheel.glob("*.dist-info"))
    version = wheel / "torch" / "version.py"
    return _digest(
        *(str(installation.python.resolve()), installation.device, installation.profile, sandbox),
        *(_content(Path(installation.profile)), _content(installation.library), _content(version)),
        *(_listing(installation.weights), _sources_digest(), *installed),
    )


@lru_cache(maxsize=1)
def _sources_digest() -> str:
    """The runner and the device's rules as they stand here: a version nobody has to remember to raise."""
    root = Path(__file__).parents[1]
    files = [path for name in _OWN_SOURCES for path in (root / name).rglob("*") if path.suffix in _OWN_SUFFIXES]
    return _digest(*(part for path in sorted(files) for part in (str(path.relative_to(root)), path.read_bytes())))


def _listing(folder: Path | None) -> str:
    """What is in a folder of weights, by sizes and times: to read gigabytes before each shard would take minutes."""
    files = sorted(folder.rglob("*")) if folder is not None else []
    told = ((path, path.stat()) for path in files if path.is_file())
    return "\n".join(f"{path} {status.st_size} {status.st_mtime_ns}" for path, status in told)


def _content(file: Path | None) -> bytes:
    return file.read_bytes() if file is not None and file.is_file() else b"none"


def _digest(*parts: str | bytes) -> str:
    """Each part with its length, so that no two lists of parts look alike."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()
