"""Read a folder of manifests for a command, with one sentence where that does not work."""

from __future__ import annotations

from pathlib import Path

from relay.cli import text
from relay.failures import Failure
from relay.manifests import ManifestFolderError, manifest_files, read_manifest
from selector.manifests import ManifestError, ManifestSet, Severity, load_manifests


class BadManifests(Failure):
    """The manifest folder is missing, or what is in it cannot be used."""

    code = "bad_manifests"


def read_manifests(folder: Path) -> ManifestSet:
    """The manifests of a folder. Raises `BadManifests` with the first problem and how to see all of them."""
    if not folder.is_dir():
        raise BadManifests(text.no_manifest_folder(str(folder)), text.no_manifest_folder_hint())
    hint = text.bad_manifests_hint(str(folder))
    try:
        files = manifest_files(folder)
        return load_manifests([read_manifest(file, file.relative_to(folder).as_posix()) for file in files])
    except ManifestError as error:
        errors = [finding for finding in error.findings if finding.severity is Severity.ERROR]
        raise BadManifests(text.bad_manifests(len(errors), str(errors[0])), hint) from error
    except ManifestFolderError as error:
        raise BadManifests(text.bad_manifests(1, str(error)), hint) from error
