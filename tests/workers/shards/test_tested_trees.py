"""Head and base as trees: made when asked for, over the same files, or built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.workers.pythons import an_environment, torch_folder
from tests.workers.small_upstream import Upstream
from workers.builds.native_build import NativeBuilds
from workers.runner.sandbox import Unconfined
from workers.shards.tested_trees import TestedTrees
from workers.upstream.checkout import Checkout, Mirrors, checked_out
from workers.upstream.overlay_merge import SkewError

Open = Callable[[dict[str, str | None], dict[str, str | None]], Checkout]
BUILD = """\
mkdir "$RELAY_BUILD_OUTPUT/torch" && cp a.cpp "$RELAY_BUILD_OUTPUT/torch/__init__.py"
echo "__version__ = '2.13.0'" > "$RELAY_BUILD_OUTPUT/torch/version.py"
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    torch_folder(tmp_path / "wheel")
    (tmp_path / "wheel/torch/a.py").write_text("old\n")
    return tmp_path / "wheel"


@pytest.fixture
def checkout(upstream: Upstream, tmp_path: Path) -> Iterator[Open]:
    """Opens a change from some files to others."""
    opened = []

    def open_change(before: dict[str, str | None], after: dict[str, str | None]) -> Checkout:
        change = upstream.change(upstream.commit(before), upstream.commit(after))
        (tmp_path / "shard").mkdir()
        opened.append(checked_out(Mirrors(tmp_path / "m"), change, tmp_path / "shard"))
        return opened[-1].__enter__()

    yield open_change
    for each in opened:
        each.__exit__(None, None, None)


def test_both_sides_carry_their_own_version(checkout: Open, wheel: Path) -> None:
    change = checkout({"torch/a.py": "old\n", "test/t.py": "1\n"}, {"torch/a.py": "new\n", "test/t.py": "2\n"})
    with TestedTrees(change, wheel) as trees:
        sides = {"new\n": trees.head(), "old\n": trees.base()}
        for content, tree in sides.items():
            assert tree.torch_path is not None
            assert (tree.torch_path / "torch/a.py").read_text() == content
        assert [(tree.checkout / "test/t.py").read_text() for tree in sides.values()] == ["2\n", "1\n"]
        assert trees.head() is trees.head()
        assert trees.base() is trees.base()


def test_torch_without_the_change_is_there_before_bases_work_tree(checkout: Open, wheel: Path) -> None:
    change = checkout({"torch/a.py": "old\n"}, {"torch/a.py": "new\n"})
    with TestedTrees(change, wheel) as trees:
        probed = trees.probed()
        assert not (change.folder / "base").exists()
        assert probed.torch_path == trees.base().torch_path


def test_a_change_of_tests_runs_on_the_plain_wheel(checkout: Open, wheel: Path) -> None:
    with TestedTrees(checkout({"test/t.py": "1\n"}, {"test/t.py": "2\n"}), wheel) as trees:
        assert [tree.torch_path for tree in (trees.head(), trees.base(), trees.plain())] == [None] * 3
        assert trees.overlay.is_empty
        assert trees.base_build == ""


def test_skew_is_told_each_time_it_is_asked(checkout: Open, wheel: Path) -> None:
    with TestedTrees(checkout({"torch/b.py": "1\n"}, {"torch/b.py": "2\n"}), wheel) as trees:
        for _ in range(2):
            with pytest.raises(SkewError, match=r"torch/b\.py"):
                trees.head()


def test_native_code_is_named_where_nothing_is_configured(checkout: Open, wheel: Path) -> None:
    with TestedTrees(checkout({"a.cpp": "1\n"}, {"a.cpp": "2\n"}), wheel) as trees:
        assert "(a.cpp)" in trees.built_files
        assert trees.base_build == ""


def test_a_native_change_has_a_build_for_either_side(checkout: Open, wheel: Path, tmp_path: Path) -> None:
    """The Python of the change is in the build as well: nothing is laid over it."""
    change = checkout({"a.cpp": "1\n", "torch/a.py": "old\n"}, {"a.cpp": "2\n", "torch/a.py": "new\n"})
    (tmp_path / "build.sh").write_text(BUILD)
    builds = NativeBuilds(tmp_path / "builds", ("/bin/sh", str(tmp_path / "build.sh")), Unconfined(""), 60, 1 << 30)
    asked = builds.for_shard(change.mirror, an_environment("default"), lambda: False, lambda word: None)
    with TestedTrees(change, wheel, asked) as trees:
        for content, tree in {"2\n": trees.head(), "1\n": trees.base()}.items():
            assert tree.torch_path is not None
            assert (tree.torch_path / "torch/__init__.py").read_text() == content
            builds.prune()
        assert trees.base_build == trees.base().torch_path.name  # type: ignore[union-attr]  # asserted above
        assert trees.overlay.is_empty


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("aten/src/ATen/Sort.cpp", "int sort(); // fast\n", "int sort(); // stable\n"),
        ("aten/src/ATen/native/cuda/Sort.cu", "int sort();\n", "long sort();\n"),
    ],
)
def test_native_code_that_the_device_cannot_notice_needs_no_build(
    checkout: Open, wheel: Path, path: str, before: str, after: str
) -> None:
    change = checkout({path: before, "torch/a.py": "old\n"}, {path: after, "torch/a.py": "new\n"})
    with TestedTrees(change, wheel) as trees:
        assert trees.built_files == ""
        assert trees.head().torch_path is not None


def test_native_code_that_changed_needs_a_build(checkout: Open, wheel: Path) -> None:
    path = "aten/src/ATen/Sort.cpp"
    with TestedTrees(checkout({path: "int sort();\n"}, {path: "long sort(); // fast\n"}), wheel) as trees:
        assert path in trees.built_files
