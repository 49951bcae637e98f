"""Both sets of manifests in this repository: what each entry has to say, and that the sets do not meet.

No upstream tree is at hand here, so that names are held to their form only; `relay manifest check --upstream` compares
them with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from relay.manifests import manifest_files
from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.lint import lint
from selector.manifests.schema import Entry, FileBlock, Manifest, class_part, is_pattern, method_part

ROOT = Path(__file__).parents[3]
DEFAULT = ROOT / "test_manifests"
PROFILES = DEFAULT / "profiles"
SETS = [DEFAULT, *sorted(folder for folder in PROFILES.iterdir() if folder.is_dir())]
LEAST_UPSTREAM_FILES = 25
_OWNER = re.compile(r"(module|oncall): [\w&+./ -]+")
_METHOD = re.compile(r"test_\w+")
every_set = pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)


def documents(folder: Path) -> list[ManifestDocument]:
    files = manifest_files(folder)
    return [ManifestDocument(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")) for path in files]


def blocks(folder: Path) -> Iterator[FileBlock]:
    for document in documents(folder):
        yield from Manifest.model_validate(yaml.safe_load(document.text)).test_suite_config.files


def entries(folder: Path) -> Iterator[Entry]:
    for block in blocks(folder):
        yield from block.tests


@every_set
def test_a_set_loads_and_nothing_in_it_is_odd(folder: Path) -> None:
    assert load_manifests(documents(folder)).findings == ()
    assert lint(documents(folder)) == ()


@every_set
def test_a_set_speaks_of_upstream_files_that_were_measured(folder: Path) -> None:
    """Demo files are of our own making and do not count."""
    files = [file for file in load_manifests(documents(folder)).files() if "/test_demo_" not in file]
    assert len(files) >= LEAST_UPSTREAM_FILES


@every_set
def test_every_entry_says_why_and_who_owns_the_file(folder: Path) -> None:
    """The owner is the label that upstream's file carries, and no person."""
    for entry in entries(folder):
        assert entry.reason, entry.names
        assert _OWNER.fullmatch(entry.owner or ""), entry.names


@every_set
def test_the_entries_of_a_file_have_one_owner(folder: Path) -> None:
    for block in blocks(folder):
        assert len({entry.owner for entry in block.tests}) <= 1, block.path


@every_set
def test_names_are_base_names(folder: Path) -> None:
    """`Class::method` or a method, as in a source file: without the device that a generated name has in it."""
    for entry in entries(folder):
        for name in entry.names:
            assert is_pattern(method_part(name)) or _METHOD.fullmatch(method_part(name)), name
            assert class_part(name) == "" or class_part(name).isidentifier(), name
            assert "spyre" not in name.lower(), name
            assert "privateuse" not in name.lower(), name


@every_set
def test_nothing_is_left_out_whole(folder: Path) -> None:
    """Only a test that runs can tell that it has begun to pass."""
    assert [entry.names for entry in entries(folder) if entry.mode == "skip"] == []


def test_the_folder_that_is_used_by_default_holds_one_set() -> None:
    """The sets list the same files, of which one block each would count."""
    assert not any(path.is_relative_to(PROFILES) for path in manifest_files(DEFAULT))
    names = {file.name for file in (ROOT / "workers" / "spyre" / "profiles").glob("*.toml")}
    assert {f"{folder.name}.toml" for folder in SETS if folder != DEFAULT} <= names
