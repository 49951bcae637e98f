"""Ten lessons about what manifests mean, each a manifest in `lessons/` with what comes of it in both profiles.

A test without `strict` comes out the same there. `entry` and `tags` are as the framework has them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from selector.manifests import (
    ManifestDocument,
    ManifestError,
    ManifestSet,
    Profile,
    Table,
    load_manifests,
    resolve,
    trace,
)
from selector.manifests.merge import merge
from selector.types import CollectedTest

FOLDER = Path(__file__).parent / "lessons"
LESSONS = sorted(path.stem for path in FOLDER.glob("*.json"))
DEVICE = "tin"


def document(name: str) -> ManifestDocument:
    return ManifestDocument(name, (FOLDER / name).read_text(encoding="utf-8"))


def lesson(name: str) -> tuple[dict[str, Any], ManifestSet, list[CollectedTest]]:
    told: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    documents = [document(f"{name}.yaml")]
    if "merged_with" in told:
        merged = merge([*documents, document(told["merged_with"])])
        assert [conflict.kind.value for conflict in merged.conflicts] == told["conflicts"]
        documents = [merged.document]
    return told, load_manifests(documents), [_test(item) for item in told["tests"]]


def _test(item: dict[str, Any]) -> CollectedTest:
    file = item.get("file", "test/test_kettle.py")
    test_id = f"{file}::{item['cls']}{DEVICE.upper()}::{item['method']}"
    return CollectedTest(test_id, file, item["cls"], item["base"], item["method"], item.get("op"), item.get("dtype"))


def resolved(manifests: ManifestSet, tests: list[CollectedTest], profile: Profile, test_type: str = "") -> Table:
    return resolve(manifests, tests, profile=profile, device=DEVICE, test_type=test_type)


def test_there_are_ten_lessons() -> None:
    assert len(LESSONS) == 10


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("profile", list(Profile))
def test_every_test_comes_out_as_the_lesson_says(name: str, profile: Profile) -> None:
    told, manifests, tests = lesson(name)
    for item, row in zip(told["tests"], resolved(manifests, tests, profile).rows, strict=True):
        wanted = item["compat"] if profile is Profile.COMPAT else item.get("strict", item["compat"])
        assert [row.mode.value, row.rule, row.entry] == wanted, (told["lesson"], row.id)
        if profile is Profile.COMPAT:
            assert list(row.tags) == item.get("tags", [])


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("profile", list(Profile))
def test_a_trace_ends_where_the_table_does(name: str, profile: Profile) -> None:
    _, manifests, tests = lesson(name)
    for test, row in zip(tests, resolved(manifests, tests, profile).rows, strict=True):
        found = trace(manifests, test, profile=profile, device=DEVICE, tests=tests)
        assert found.resolution == row
        assert [check.hit for check in found.checks] == [False] * (len(found.checks) - 1) + [True]
        assert found.checks[-1].name == row.rule


@pytest.mark.parametrize("name", LESSONS)
def test_only_the_lesson_about_what_is_ignored_is_refused_strictly(name: str) -> None:
    told = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if not told.get("strict_refuses"):
        load_manifests([document(f"{name}.yaml")], profile=Profile.STRICT)
        return
    with pytest.raises(ManifestError) as caught:
        load_manifests([document(f"{name}.yaml")], profile=Profile.STRICT)
    keys = {"chef", "unlisted_mode", "selectors", "kwargs", "tag", "ovens"}
    assert {finding.message.split("'")[1] for finding in caught.value.errors} == keys


def test_the_test_type_counts_for_entries_with_labels_only() -> None:
    told, manifests, tests = lesson("08-labels")
    for test_type, rule in told["test_types"].items():
        rows = resolved(manifests, tests, Profile.COMPAT, test_type).rows
        assert [row.rule for row in rows] == [rule, "listed", "unlisted"]
