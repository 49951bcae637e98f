"""The JSON document of `upstream`: a row per test, counts per file and device, the figures.

Manifests are written from it, and a later run may take the CPU's side over from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from relay.contract import Observation
from selector.types import CollectedTest
from tests.benchmarks.device_pairs import Seen, figures, key, standing
from tests.benchmarks.device_sides import FileResult, Side


def document(results: Sequence[FileResult], **about: str) -> dict[str, Any]:
    """Everything that was measured, as JSON takes it. `about` says of what."""
    pairs = [each for result in results for each in result.pairs]
    return {
        **about,
        "figures": asdict(figures(pairs)),
        "figures_of_device_tests": asdict(figures([each for each in pairs if each.generated])),
        "files": [_file_document(result) for result in results],
    }


def _file_document(result: FileResult) -> dict[str, Any]:
    sides = {
        name: {
            "collected": len(side.tests),
            "error": side.error,
            "seconds": round(side.seconds, 1),
            "lost": side.lost,
            "cut": side.cut,
            "stray": side.stray,
        }
        for name, side in (("cpu", result.cpu), ("spyre", result.device))
    }
    tests = [
        {
            "base": each.base,
            "generated": each.generated,
            "standing": standing(each),
            "cpu": each.cpu and asdict(each.cpu),
            "spyre": each.device and asdict(each.device),
        }
        for each in result.pairs
    ]
    collected = [asdict(test) for test, _ in result.cpu.tests.values()]
    return {"file": result.file, **sides, "tests": tests, "collected_on_cpu": collected}


def cpu_side(source: Path | None, file: str) -> Side | None:
    """The CPU's side of `file` in an earlier document, where there is one."""
    if source is None:
        return None
    document = json.loads(source.read_text())
    found = next((each for each in document["files"] if each["file"] == file), None)
    if found is None:
        return None
    seen = {
        row["cpu"]["id"]: Seen(
            row["cpu"]["id"],
            row["cpu"]["observation"] and Observation(row["cpu"]["observation"]),
            row["cpu"]["seconds"],
            row["cpu"]["detail"],
        )
        for row in found["tests"]
        if row["cpu"]
    }
    tests = [
        CollectedTest(**each | {"parameters": tuple(tuple(one) for one in each["parameters"])})
        for each in found["collected_on_cpu"]
    ]
    side = found["cpu"]
    return Side(
        {key(test, "cpu"): (test, seen[test.id]) for test in tests},
        side["error"],
        side["seconds"],
        side["lost"],
        side["cut"],
        side["stray"],
    )
