"""The CPU's answers on a base, kept on this machine between runs: a base answers many changes, and the same each time.

Owns the folder, shared by the worker processes of a machine, and what the key of an answer is made of. What an answer
holds is the child's business; here it is bytes. A folder that cannot be used costs a run on the CPU and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from selector.manifests.models import ModelCheck

log = structlog.get_logger(__name__)

#: Of all answers together; the oldest go first.
MOST_BYTES = 1 << 30
#: What an answer does not depend on: it says how close the device has to come.
_JUDGING = ("name", "tolerances", "agreement", "compiled_by")


@dataclass(frozen=True, slots=True)
class References:
    """The answers of one base: `identity` names everything but the check that they depend on. Without a folder nothing
    is kept."""

    folder: Path | None
    identity: str
    most_bytes: int = MOST_BYTES

    def load(self, check: ModelCheck) -> bytes | None:
        """The answer of an earlier run."""
        path = self._path(check)
        if path is None:
            return None
        try:
            data = path.read_bytes()
            os.utime(path)  # what is used stays
        except OSError:
            return None
        return data

    def save(self, check: ModelCheck, data: bytes) -> None:
        """Keep an answer; another process sees it whole or not at all."""
        path = self._path(check)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as target:
                target.write(data)
            Path(target.name).replace(path)
            self._make_room(path.parent)
        except OSError as error:
            log.warning("a reference of a model cannot be kept", folder=str(path.parent), error=str(error))

    def _path(self, check: ModelCheck) -> Path | None:
        if self.folder is None:
            return None
        asked = {name: value for name, value in check.as_json().items() if name not in _JUDGING}
        content = json.dumps([self.identity, asked], sort_keys=True).encode()
        return self.folder / f"{hashlib.sha256(content).hexdigest()}.reference"

    def _make_room(self, folder: Path) -> None:
        """Other processes remove files as well."""
        found: list[tuple[float, int, Path]] = []
        for path in folder.iterdir():
            with suppress(FileNotFoundError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self.most_bytes:
                return
            path.unlink(missing_ok=True)
            total -= size
