"""The collected tests of `--ids`, and the device's word in their names, with one sentence where that does not work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from relay.cli.manifests import text
from relay.failures import Failure
from selector.manifests.universe import MAX_BYTES, UniverseError, device_of, plain_ids, read_universe
from selector.types import CollectedTest


class BadIds(Failure):
    """The file of `--ids` is missing, or is no list of tests."""

    code = "bad_ids"


@dataclass(frozen=True, slots=True)
class Collected:
    """Tests, and the device's word in their generated names. `plain` are those known by their id alone."""

    tests: tuple[CollectedTest, ...]
    device: str
    plain: frozenset[str] = frozenset()


def collected(path: Path | None, device: str | None) -> Collected:
    """The tests of a file, none without one. The device's word is the given one, else the file's, else that of
    RELAY_DEVICE. Raises BadIds.
    """
    if path is None:
        return Collected((), device or _configured_device())
    content = _read(path)
    try:
        word = device or device_of(content) or _configured_device()
        return Collected(read_universe(content, word), word, plain_ids(content))
    except UniverseError as error:
        raise BadIds(text.bad_ids(str(path), str(error)), text.ids_hint()) from error


def _configured_device() -> str:
    from relay.cli.connect import load_settings

    return load_settings().device


def _read(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadIds(text.bad_ids(str(path), error.strerror or str(error)), text.ids_hint()) from error
    if len(data) > MAX_BYTES:
        raise BadIds(text.bad_ids(str(path), f"larger than {MAX_BYTES // 1024 // 1024} MiB"), text.ids_hint())
    # Bytes that are no UTF-8 become no JSON that anybody meant; the sentence says which test is wrong.
    return data.decode("utf-8-sig", errors="replace")
