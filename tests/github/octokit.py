"""GitHub's own OpenAPI description: the npm package `@octokit/openapi`, pinned by version and digest, fetched once into
the cache folder of the user and never kept in the repository.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

PACKAGE, VERSION = "@octokit/openapi", "23.0.2"
INTEGRITY = "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
_MEMBER = "package/generated/api.github.com.json"


def openapi_document() -> dict[str, Any]:
    """The description of api.github.com. CI must have npm to fetch it; elsewhere a machine without both skips."""
    file = _cache_folder() / f"octokit-openapi-{VERSION}.json"
    if not file.is_file():
        _fetch(file)
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "oot-relay" / "tests"


def _fetch(file: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        if os.environ.get("CI"):
            pytest.fail(f"npm is not installed, and CI has to hold every request to {PACKAGE}: install npm")
        pytest.skip(f"npm is not installed; it fetches {PACKAGE}, which describes GitHub's API")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", "--pack-destination", folder, f"{PACKAGE}@{VERSION}"]
        subprocess.run(command, check=True, timeout=240, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        assert digest == INTEGRITY, f"{PACKAGE}@{VERSION} is not the package that was pinned"
        with tarfile.open(archive) as packed:
            member = packed.extractfile(_MEMBER)
            assert member is not None
            content = member.read()
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(file)
