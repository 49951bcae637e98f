"""The installed wheel plus a change: merging, refusing, and never writing anywhere but into the overlay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.upstream import Upstream
from workers.changed_files import ChangedEntry, changed_entries
from workers.git import Git
from workers.overlay import OverlayPlanner, SkewError, build_overlay, installed_wheel, needs_build

LONG = "".join(f"line_{number} = {number}\n" for number in range(20))


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A stand-in for site-packages with a small `torch` in it."""
    files = {
        "torch/__init__.py": "",
        "torch/long.py": LONG,
        "torch/nn/linear.py": "old\n",
        "torch/nn/other.py": "other\n",
        "torch/nn/__pycache__/linear.cpython-311.pyc": "stale",
        "torch/nn/__pycache__/other.cpython-311.pyc": "good",
        "torch/optim/adam.py": "adam\n",
        "torch/lib/libtorch.so": "binary",
        "functorch/__init__.py": "f\n",
    }
    for name, content in files.items():
        path = tmp_path / "wheel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "wheel"


@pytest.fixture
def git(upstream: Upstream, tmp_path: Path) -> Git:
    return Git(upstream.path, tmp_path / "no-config")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class Change:
    """Two commits of an upstream repository, laid over a wheel."""

    def __init__(self, git: Git, wheel: Path, base: str, head: str) -> None:
        self.git, self.wheel = git, wheel
        self.entries: tuple[ChangedEntry, ...] = changed_entries(git, base, head)

    def overlay(self, destination: Path) -> Path | None:
        return build_overlay(OverlayPlanner(self.git, self.wheel).plan(self.entries), self.wheel, destination)

    def needs_build(self, *harmless: str) -> str:
        return needs_build(self.entries, harmless)


def test_changed_files_are_real_and_the_rest_are_links(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    base = upstream.commit({"torch/nn/linear.py": "old\n"})
    head = upstream.commit({"torch/nn/linear.py": "new\n", "torch/nn/added.py": "added\n"})
    before = snapshot(wheel)
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root == tmp_path / "overlay"
    nn = root / "torch" / "nn"
    assert (nn / "linear.py").read_text() == "new\n"
    assert (nn / "added.py").read_text() == "added\n"
    assert not (nn / "linear.py").is_symlink()
    assert (nn / "other.py").readlink() == wheel / "torch/nn/other.py"
    assert (root / "torch" / "lib").readlink() == wheel / "torch/lib"
    assert not (root / "functorch").exists()
    assert snapshot(wheel) == before


def test_the_cache_is_its_own_and_holds_no_bytecode_of_changed_files(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    base = upstream.commit({"torch/nn/linear.py": "old\n"})
    head = upstream.commit({"torch/nn/linear.py": "new\n"})
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root is not None
    cache = root / "torch/nn/__pycache__"
    assert not cache.is_symlink()
    assert [entry.name for entry in cache.iterdir()] == ["other.cpython-311.pyc"]


def test_a_wheel_that_differs_elsewhere_in_the_file_is_merged(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    """The tree is newer than the wheel at the top of the file, the change is at its end: both stay."""
    base = upstream.commit({"torch/long.py": LONG.replace("line_0 = 0", "line_0 = 'newer'")})
    head = upstream.commit({"torch/long.py": LONG.replace("line_0 = 0", "line_0 = 'newer'").replace("= 19", "= 'c'")})
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root is not None
    assert (root / "torch/long.py").read_text() == LONG.replace("= 19", "= 'c'")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("line_3 = 'newer'\n", "line_3 = 'changed'\n", "conflicts with the wheel's version"),
        (b"\0binary\0one", b"\0binary\0two", "cannot be merged into the wheel's version"),
        ("line_3 = 'newer'\n", None, "wheel's differs from the base commit's"),
    ],
)
def test_a_conflict_is_skew_and_names_the_file(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path, *,
    before: str | bytes, after: str | bytes | None, sentence: str,
) -> None:  # fmt: skip
    base = upstream.commit({"torch/long.py": before})
    head = upstream.commit({"torch/long.py": after})
    with pytest.raises(SkewError, match=rf"torch/long.py .*{sentence}"):
        Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert not (tmp_path / "overlay").exists()


def test_a_changed_module_the_wheel_lacks_is_skew(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    base = upstream.commit({"torch/newer.py": "1\n"})
    head = upstream.commit({"torch/newer.py": "2\n"})
    with pytest.raises(SkewError, match=r"torch/newer.py is changed, but the wheel does not have it"):
        Change(git, wheel, base, head).overlay(tmp_path / "overlay")


def test_an_added_module_the_wheel_has_differently_is_skew(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    base = upstream.commit({})
    head = upstream.commit({"torch/nn/linear.py": "of upstream\n"})
    with pytest.raises(SkewError, match="another file of that name"):
        Change(git, wheel, base, head).overlay(tmp_path / "overlay")


def test_deleted_and_renamed_files_are_absent(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    base = upstream.commit({"torch/optim/adam.py": "adam\n", "torch/long.py": LONG})
    head = upstream.commit({"torch/optim/adam.py": None, "torch/long.py": None, "torch/moved.py": LONG + "more = 1\n"})
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root is not None
    assert not (root / "torch/optim/adam.py").exists()
    assert not (root / "torch/long.py").exists()
    assert (root / "torch/moved.py").read_text() == LONG + "more = 1\n"


def test_a_change_outside_the_packages_needs_no_overlay(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    base = upstream.commit({"test/test_a.py": "1\n"})
    head = upstream.commit({"test/test_a.py": "2\n"})
    assert Change(git, wheel, base, head).overlay(tmp_path / "overlay") is None


def test_a_change_the_wheel_already_has_is_noted(upstream: Upstream, git: Git, wheel: Path) -> None:
    base = upstream.commit({"torch/nn/linear.py": "ancient\n"})
    head = upstream.commit({"torch/nn/linear.py": "old\n"})
    overlay = OverlayPlanner(git, wheel).plan(Change(git, wheel, base, head).entries)
    assert overlay.notes == ("The installed torch already has the change of torch/nn/linear.py.",)


def test_a_symbolic_link_in_the_change_is_refused(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.py"
    victim.write_text("untouched\n")
    base = upstream.commit({"torch/nn/linear.py": "old\n"})
    head = upstream.commit({"torch/nn/linear.py": victim})
    with pytest.raises(SkewError, match="symbolic link"):
        Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert victim.read_text() == "untouched\n"


def test_a_linked_folder_in_the_change_leads_nowhere(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    """A folder that becomes a link on head, with a file that would be written through it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    base = upstream.commit({"torch/extra/x.py": "1\n", "torch/nn/linear.py": "old\n"})
    upstream.git("rm", "-r", "--quiet", "torch/extra")
    head = upstream.commit({"torch/extra": outside, "torch/nn/linear.py": "new\n"})
    with pytest.raises(SkewError, match="symbolic link"):
        Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert list(outside.iterdir()) == []


def test_bytecode_in_the_change_is_refused(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    base = upstream.commit({})
    head = upstream.commit({"torch/nn/__pycache__/linear.cpython-311.pyc": b"\0evil"})
    with pytest.raises(SkewError, match="bytecode"):
        Change(git, wheel, base, head).overlay(tmp_path / "overlay")


@pytest.mark.parametrize(
    "path",
    ["aten/src/ATen/native/Linear.cpp", "torch/csrc/Module.h", "aten/src/ATen/native/native_functions.yaml",
     "torchgen/gen.py", "setup.py", "CMakeLists.txt", "torch/_C/__init__.pyi.in", "torch/kernels/x.thrift"],
)  # fmt: skip
def test_what_is_compiled_needs_a_build(upstream: Upstream, git: Git, wheel: Path, path: str) -> None:
    base = upstream.commit({path: "1\n"})
    change = Change(git, wheel, base, upstream.commit({path: "2\n"}))
    assert path in change.needs_build()
    assert change.needs_build(path) == ""


def test_a_submodule_needs_a_build(upstream: Upstream, git: Git, wheel: Path) -> None:
    base = upstream.commit({})
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{base},third_part/fbgemm")
    upstream.git("commit", "--quiet", "-m", "submodule")
    assert "third_part/fbgemm" in Change(git, wheel, base, upstream.git("rev-parse", "HEAD")).needs_build()


@pytest.mark.parametrize(
    "path",
    ["docs/source/x.rst", ".github/workflows/x.yml", "test/test_a.py", "test/cpp_extensions/x.cpp", "torch/a.py"],
)
def test_python_tests_and_documents_need_no_build(upstream: Upstream, git: Git, wheel: Path, path: str) -> None:
    base = upstream.commit({path: "1\n"})
    assert Change(git, wheel, base, upstream.commit({path: "2\n"})).needs_build() == ""


def test_many_files_are_named_in_part(upstream: Upstream, git: Git, wheel: Path) -> None:
    base = upstream.commit({})
    head = upstream.commit({f"aten/src/{number}.cpp": "1\n" for number in range(9)})
    assert "aten/src/0.cpp" in Change(git, wheel, base, head).needs_build()
    assert "and 4 more" in Change(git, wheel, base, head).needs_build()


def test_the_real_torch_runs_changed_from_the_overlay(upstream: Upstream, git: Git, tmp_path: Path) -> None:
    """A real child imports the installed torch through the overlay: the changed function is the changed one, the rest
    is the wheel's, and the wheel's folder is as before."""
    wheel = installed_wheel()
    shipped = (wheel / "torch/functional.py").read_text()
    base = upstream.commit({"torch/functional.py": shipped})
    changed = shipped + "\n\ndef atleast_1d(*tensors):\n    return 'changed'\n"
    head = upstream.commit({"torch/functional.py": changed})
    caches = sorted((wheel / "torch/__pycache__").iterdir())
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    program = (
        "import torch, torch.functional as f, torch.nn\n"
        "print(torch.__file__, f.atleast_1d(1), torch.ones(2).sum().item(), torch.nn.Linear(2, 3).weight.shape[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "SPYRE_LIBRARY": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [f"{root}/torch/__init__.py", "changed", "2.0", "3"]
    assert "functional.cpython" in " ".join(os.listdir(tmp_path / "overlay/torch/__pycache__"))
    assert sorted((wheel / "torch/__pycache__").iterdir()) == caches
    assert (wheel / "torch/functional.py").read_text() == shipped
