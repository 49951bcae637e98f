"""Where a command's manifests come from: files and folders, the configured folder, or a revision of a git checkout.

Turns everything that can go wrong there into one sentence with a next step. Decides nothing about their content.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from relay.cli import text as common
from relay.cli.manifests import text
from relay.cli.manifests.folder import BadManifests
from relay.manifests import ManifestFolderError, belongs_to_set, manifest_files, read_manifest
from selector.manifests import ManifestDocument, ManifestError, ManifestSet, Profile, load_manifests
from selector.trees import GitTree, TreeError


def named_documents(paths: Sequence[Path] | None) -> list[ManifestDocument]:
    """The manifests of files and folders, each once, under the names they were given by; without any, those of
    RELAY_MANIFEST_DIR. Raises BadManifests.
    """
    try:
        files = dict.fromkeys(file for path in paths or [_default_folder()] for file in _files(path))
        return [read_manifest(file, file.as_posix()) for file in files]
    except ManifestFolderError as error:
        raise BadManifests(str(error)) from error


def documents_at(source: str) -> list[ManifestDocument]:
    """The manifests of one file, of a folder, or of `REV:PATH` in the checkout around the working directory, PATH from
    its root as git has it. Names are relative to the folder, so that two states of it have the same names.

    Raises BadManifests.
    """
    path = Path(source)
    revision, colon, inside = source.partition(":")
    if not path.exists() and colon and revision:
        return _documents_of_revision(revision, inside)
    try:
        root = path if path.is_dir() else path.parent
        return [read_manifest(file, file.relative_to(root).as_posix()) for file in _files(path)]
    except ManifestFolderError as error:
        raise BadManifests(str(error)) from error


def loaded(documents: Sequence[ManifestDocument], profile: Profile = Profile.COMPAT) -> ManifestSet:
    """The manifests as one set. Raises BadManifests with the first problem and how to see all of them; in the strict
    profile what the framework ignores is one.
    """
    try:
        return load_manifests(documents, profile=profile)
    except ManifestError as error:
        raise unusable(error) from error


def unusable(error: ManifestError) -> BadManifests:
    """What to tell a person about manifests that do not load."""
    first = error.errors[0]
    return BadManifests(common.bad_manifests(len(error.errors), str(first)), common.bad_manifests_hint(first.file))


def _default_folder() -> Path:
    from relay.cli.connect import load_settings

    folder = load_settings().manifest_dir
    # Shorter, and what editors and GitHub want to see, when the folder is below the working directory.
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise BadManifests(text.no_manifest(str(path)), text.no_manifest_hint())
    files = manifest_files(path) if path.is_dir() else [path]
    if not files:
        raise BadManifests(text.no_manifest_in(str(path)), text.no_manifest_hint())
    return files


def _documents_of_revision(revision: str, inside: str) -> list[ManifestDocument]:
    wanted = PurePosixPath(inside)
    try:
        with GitTree(Path(), revision) as tree:
            files = [path for path in tree.paths() if _is_manifest_of(PurePosixPath(path), wanted)]
            texts = {path: tree.read(path) for path in files}
    except TreeError as error:
        raise BadManifests(str(error), text.no_manifest_hint()) from error
    if not texts:
        raise BadManifests(text.no_manifest_in(f"{revision}:{inside}"), text.no_manifest_hint())
    root = wanted if str(wanted) not in texts else wanted.parent
    # A text that is no UTF-8 stays in the set as a document that says so when it is loaded.
    return [
        ManifestDocument(PurePosixPath(path).relative_to(root).as_posix(), "\udc80" if content is None else content)
        for path, content in texts.items()
    ]


def _is_manifest_of(path: PurePosixPath, wanted: PurePosixPath) -> bool:
    if path == wanted:
        return True
    return path.suffix == ".yaml" and path.is_relative_to(wanted) and belongs_to_set(path.relative_to(wanted).parts)
