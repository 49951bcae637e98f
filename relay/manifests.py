"""The manifest folder as the relay sees it: read, checked, reloaded when it changes, and never half new.

A bad edit must not stop the service: the last set that loaded stays in use and the problem is kept for the pages and
the log. Owns no rule of the manifests themselves (`selector.manifests`); writes only what a person asked for.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from relay.contract import ManifestText, ModelOrder
from selector.manifests import MAX_BYTES, ManifestDocument, ManifestError, ManifestSet, load_manifests, resolve
from selector.manifests.profiles import Profile
from selector.types import CollectedTest

#: A folder of this name holds other sets, one a device profile: part of no set but its own.
SETS_ASIDE = "profiles"

#: (name, mtime in ns, size in bytes, inode) of every manifest; the inode sees a file that was replaced by another.
Fingerprint = tuple[tuple[str, int, int, int], ...]


class ManifestFolderError(Exception):
    """The manifest folder, or a file in it, can not be read; the text names it and the next step."""


@dataclass(frozen=True, slots=True)
class LoadedManifests:
    """The set in use. `problem` says why it is not what lies in the folder now; None when it is."""

    texts: tuple[ManifestText, ...]
    digest: str
    problem: str | None
    rules: ManifestSet | None = field(default=None, repr=False, compare=False)

    def models(self, files: Iterable[str]) -> tuple[ModelOrder, ...]:
        """The models among what stands for files in test ids, each once and in that order, for a worker to run."""
        known = self.rules.models if self.rules is not None else {}
        wanted = (file for file in dict.fromkeys(files) if file in known)
        return tuple(ModelOrder(file=file, check=known[file].check.as_json()) for file in wanted)


@dataclass(frozen=True, slots=True)
class ManifestSays:
    """What the manifests in use say about a collected test: the mode, the rule and the `manifest.yaml:line` that
    decide, and the remarks of its entry, empty where there are none."""

    mode: str
    rule: str
    provenance: str
    reason: str
    issue: str
    owner: str
    expires: date | None


def what_manifests_say(
    loaded: LoadedManifests, test_id: str, *, base: str, op: str, dtype: str, device: str
) -> ManifestSays | None:
    """About a test of a plan; `base` is its base test (`file::Class::method`), `op` and `dtype` are empty where they
    are not known. As the framework reads manifests; without the other variants of the test, which decide whether the
    list of operators applies. None when no manifests are in use or the id is none of a test."""
    file, *names = test_id.split("::")
    if loaded.rules is None or not names:
        return None
    cls = "::".join(names[:-1])
    test = CollectedTest(test_id, file, cls, base.rpartition("::")[2], names[-1], op or None, dtype or None)
    profile = Profile.COMPAT if cls else Profile.STRICT
    (row,) = resolve(loaded.rules, [test], profile=profile, device=device).rows
    return ManifestSays(row.mode, row.rule, row.provenance, row.reason, row.issue, row.owner, row.expires)


def manifest_files(folder: Path) -> list[Path]:
    """All `**/*.yaml` under a folder, in the order of their names, but for folders called `profiles`. Hidden files and
    folders are left out: there a mounted ConfigMap keeps its second copy. Raises ManifestFolderError when the folder is
    missing.
    """
    if not folder.is_dir():
        raise ManifestFolderError(
            f"the manifest folder {folder} does not exist; create it, or set RELAY_MANIFEST_DIR to another one"
        )
    inside = ((path, path.relative_to(folder).parts) for path in folder.glob("**/*.yaml") if path.is_file())
    return sorted(path for path, parts in inside if belongs_to_set(parts))


def belongs_to_set(parts: Sequence[str]) -> bool:
    """Whether a file under a manifest folder, named by the parts of its path there, is one of that folder's set."""
    return SETS_ASIDE not in parts[:-1] and not any(part.startswith(".") for part in parts)


def read_manifest(path: Path, name: str) -> ManifestDocument:
    """One manifest under a name. Not more than the selector's cap is read of it, and bytes that are no UTF-8 are kept
    as such, so that both faults are found with their place. Raises ManifestFolderError when it can not be read.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ManifestFolderError(f"the manifest {path} can not be read: {error.strerror}") from error
    return ManifestDocument(name, data.decode(errors="surrogateescape"))


def replace_manifest(path: Path, text: str) -> None:
    """Write a manifest in one step, so that whoever reads the folder meanwhile sees the old text or the new one. A link
    is followed, the file's permissions stay. Raises ManifestFolderError when it can not be written.
    """
    target = path.resolve()
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as stream:
            fresh = Path(stream.name)
            stream.write(text.encode())
        try:
            shutil.copymode(target, fresh)
            fresh.replace(target)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ManifestFolderError(f"the manifest {path} can not be written: {error.strerror}") from error


class ManifestStore:
    """The manifests of one folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: Fingerprint | None = None
        self._loaded = LoadedManifests((), "", None)

    @property
    def problem(self) -> str | None:
        """Why the folder could not be used when `current` last looked; None when it could."""
        return self._loaded.problem

    def current(self) -> LoadedManifests:
        """The manifests to use now. Looks at names, times and sizes, and reads the files only when these changed."""
        with self._lock:
            try:
                self._refresh()
            except ManifestFolderError as error:
                self._seen = None
                self._keep(str(error))
            return self._loaded

    def _refresh(self) -> None:
        # Looked at before reading: a file that changes meanwhile has another print next time.
        seen = tuple(self._prints())
        if seen == self._seen:
            return
        documents = [
            read_manifest(path, path.relative_to(self._folder).as_posix()) for path in manifest_files(self._folder)
        ]
        try:
            manifests = load_manifests(documents)
        except ManifestError as error:
            self._keep(str(error))
        else:
            texts = tuple(ManifestText(name=document.name, text=document.text) for document in documents)
            self._loaded = LoadedManifests(texts, manifests.digest, None, manifests)
        self._seen = seen

    def _prints(self) -> Iterator[tuple[str, int, int, int]]:
        for path in manifest_files(self._folder):
            try:
                status = path.stat()
            except OSError as error:
                raise ManifestFolderError(f"the manifest {path} can not be read: {error.strerror}") from error
            name = path.relative_to(self._folder).as_posix()
            yield name, status.st_mtime_ns, status.st_size, status.st_ino

    def _keep(self, problem: str) -> None:
        kept = "; the last good set stays in use" if self._loaded.texts else "; no manifests are in use"
        self._loaded = LoadedManifests(self._loaded.texts, self._loaded.digest, problem + kept, self._loaded.rules)
