"""A cache decides how long a catalog takes, and never what is in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from selector.catalog import Catalog, CatalogFile, build_catalog
from selector.trees import DirectoryTree, GitTree, SourceFile
from tests.selector.catalog.sources import edits, trees
from tests.selector.upstream import MemoryTree, Repository

SOURCE = "class TestA(TestCase):\n    def test_x(self): pass\n"
DATABASE = "torch/testing/_internal/common_methods_invocations.py"


class Kept:
    """A cache in memory that says what it was asked for and given."""

    def __init__(self) -> None:
        self.records: dict[str, bytes] = {}
        self.recalled: list[str] = []
        self.kept: list[str] = []

    def load(self, parser: str, wanted: Collection[str]) -> Mapping[str, bytes]:
        self.recalled = [key for key in wanted if key in self.records]
        self.kept = []
        return {key: self.records[key] for key in self.recalled}

    def keep(self, parser: str, used: Iterable[str], fresh: Mapping[str, bytes]) -> None:
        assert set(fresh) <= set(used)
        self.kept = [key.partition(" ")[2] for key in fresh]
        self.records.update(fresh)


class Reading(MemoryTree):
    """A tree that counts what is read of it, and knows ids without reading."""

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__(files)
        self.read_paths: list[str] = []

    def blob_id(self, path: str) -> str | None:
        text = super().read(path)
        return None if text is None else f"{hash(text):x}"

    def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
        self.read_paths += paths
        return (SourceFile(path, self.blob_id(path), self.read(path)) for path in paths)


def same(one: Catalog, other: Catalog) -> bool:
    """Whether two catalogs agree, in their order too."""
    return one == other and list(one.files) == list(other.files) and list(one) == list(other)


@settings(max_examples=150, deadline=None)
@given(trees, st.lists(edits, max_size=4))
def test_after_any_edits_a_cached_catalog_is_a_fresh_one(
    first: dict[str, str], steps: list[dict[str, str | None]]
) -> None:
    """Inheritance across files makes the entry of one file depend on the text of another."""
    files, cache = dict(first), Kept()
    for step in ({}, *steps, {}):
        files = {path: text for path, text in {**files, **step}.items() if text is not None}
        assert same(build_catalog(MemoryTree(files), cache), build_catalog(MemoryTree(files)))
    assert cache.kept == []


def test_only_what_changed_is_read_again() -> None:
    files = {"test/test_a.py": SOURCE, "test/test_b.py": SOURCE, DATABASE: "OpInfo('add')\n", "setup.py": ""}
    files["torch/nn.py"] = "import torch.fx\n"
    cache = Kept()
    cold, warm = Reading(files), Reading(files)
    assert same(build_catalog(cold, cache), build_catalog(warm, cache))
    assert (cold.read_paths, warm.read_paths) == (["test/test_a.py", "test/test_b.py", DATABASE, "torch/nn.py"], [])
    edited = Reading({**files, "test/test_b.py": SOURCE.replace("test_x", "test_y")})
    build_catalog(edited, cache)
    assert edited.read_paths == ["test/test_b.py"]
    assert cache.kept == ["test/test_b.py"]


def test_a_moved_file_is_read_at_its_new_place() -> None:
    """A relative import means another module there."""
    text = "from .base import TestBase\n"
    cache = Kept()
    build_catalog(MemoryTree({"test/one/test_a.py": text}), cache)
    moved = MemoryTree({"test/two/test_a.py": text})
    assert build_catalog(moved, cache).files["test/two/test_a.py"].imports == {
        "test.two.base",
        "test.two.base.TestBase",
    }


def test_records_that_are_none_are_read_anew() -> None:
    files = {"test/test_a.py": SOURCE, DATABASE: "OpInfo('add')\n"}
    cache = Kept()
    build_catalog(MemoryTree(files), cache)
    for damage in (b"", b"{}", b"\x78\x01", *cache.records.values()):
        cache.records = dict.fromkeys(cache.records, damage)
        assert same(build_catalog(MemoryTree(files), cache), build_catalog(MemoryTree(files)))


def test_a_file_that_is_no_text_is_not_remembered(repository: Repository) -> None:
    """It may be a blob that a partial clone has not fetched yet."""
    cache = Kept()
    rev = repository.commit({"test/test_a.py": b"\0", "test/test_b.py": SOURCE})
    with GitTree(repository.path, rev) as tree:
        catalog = build_catalog(tree, cache)
    assert not catalog.files["test/test_a.py"].parsed
    assert cache.kept == ["test/test_b.py"]


def test_a_folder_and_a_revision_share_what_was_read(repository: Repository) -> None:
    cache = Kept()
    with GitTree(repository.path, repository.commit({"test/test_a.py": SOURCE})) as tree:
        of_revision = build_catalog(tree, cache)
    assert same(build_catalog(DirectoryTree(repository.path), cache), of_revision)
    assert (len(cache.recalled), cache.kept) == (1, [])


def test_a_file_that_changes_while_it_is_read_is_kept_as_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    file = tmp_path / "test/test_a.py"

    class Edited(DirectoryTree):
        """The file changes between the asking for its id and its reading."""

        def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
            file.write_text(SOURCE.replace("test_x", "test_late"))
            return super().read_all(paths)

    cache = Kept()
    file.write_text(SOURCE)
    build_catalog(Edited(tmp_path), cache)
    file.write_text(SOURCE)
    assert [test.test.name for test in build_catalog(DirectoryTree(tmp_path), cache)] == ["test_x"]


def test_catalogs_share_one_file(repository: Repository, tmp_path: Path) -> None:
    notes: list[str] = []
    path = tmp_path / "work" / "catalog"
    with GitTree(repository.path, repository.commit({"test/test_a.py": SOURCE})) as tree:
        first = build_catalog(tree, CatalogFile(path, notes.append))
        assert same(build_catalog(tree, CatalogFile(path, notes.append)), first)
    assert notes == []
    assert [file.name for file in path.parent.iterdir()] == ["catalog"]
