"""The installed wheel plus a change: merging, refusing, and never writing anywhere but into the overlay."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.small_upstream import Upstream
from workers.upstream.changed_files import ChangedEntry, changed_entries
from workers.upstream.git import Git
from workers.upstream.overlay import Overlay, OverlayPlanner, build_overlay, installed_wheel, needs_build
from workers.upstream.overlay_merge import SkewError

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
        "torchgen/gen.py": "gen\n",
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

    def plan(self) -> Overlay:
        return OverlayPlanner(self.git, self.wheel).plan(self.entries)

    def overlay(self, destination: Path) -> Path | None:
        """Head's side."""
        return build_overlay(self.plan().head, self.wheel, destination)

    def base(self, destination: Path) -> Path | None:
        return build_overlay(self.plan().base, self.wheel, destination)

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
    assert list((root / "torch/__pycache__").iterdir()) == []


def test_a_wheel_that_differs_elsewhere_in_the_file_is_merged(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    """The tree is newer than the wheel at the top of the file, the change is at its end: both stay."""
    base = upstream.commit({"torch/long.py": LONG.replace("line_0 = 0", "line_0 = 'newer'")})
    head = upstream.commit({"torch/long.py": LONG.replace("line_0 = 0", "line_0 = 'newer'").replace("= 19", "= 'c'")})
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root is not None
    assert (root / "torch/long.py").read_text() == LONG.replace("= 19", "= 'c'")
    without = Change(git, wheel, base, head).base(tmp_path / "overlay-base")
    assert without is not None
    assert (without / "torch/long.py").read_text() == LONG
    (note,) = Change(git, wheel, base, head).plan().notes
    assert "torch/long.py differs between the base commit and the installed torch" in note


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


def test_a_change_the_wheel_already_has_is_compared_with_base_without_it(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    """The plain wheel would be head compared with head."""
    base = upstream.commit({"torch/nn/linear.py": "ancient\n", "torch/optim/adam.py": None})
    head = upstream.commit({"torch/nn/linear.py": "old\n", "torch/optim/adam.py": "adam\n"})
    change = Change(git, wheel, base, head)
    with_change, without = change.overlay(tmp_path / "head"), change.base(tmp_path / "base")
    assert with_change is not None
    assert without is not None
    assert (with_change / "torch/nn/linear.py").read_text() == "old\n"
    assert (with_change / "torch/optim/adam.py").read_text() == "adam\n"
    assert (without / "torch/nn/linear.py").read_text() == "ancient\n"
    assert not (without / "torch/optim/adam.py").exists()
    assert [note.partition(";")[0] for note in change.plan().notes] == [
        "The installed torch already has the change of torch/nn/linear.py",
        "The installed torch already has the change of torch/optim/adam.py",
    ]


def test_both_sides_are_made_of_the_same_files(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    """Links, folders and real files alike: a test that looks where torch lies sees no difference but the change."""
    base = upstream.commit({"torch/nn/linear.py": "old\n", "torch/optim/adam.py": "adam\n"})
    head = upstream.commit({"torch/nn/linear.py": "new\n", "torch/optim/adam.py": None, "torch/nn/added.py": "1\n"})
    change = Change(git, wheel, base, head)
    change.overlay(tmp_path / "head")
    change.base(tmp_path / "base")

    def shape(folder: Path) -> dict[str, bool]:
        return {str(entry.relative_to(folder)): entry.is_symlink() for entry in folder.rglob("*")}

    only_base, only_head = {"torch/optim/adam.py": False}, {"torch/nn/added.py": False}
    assert shape(tmp_path / "base") | only_head == shape(tmp_path / "head") | only_base


def test_all_three_shipped_packages_are_covered(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    names = ("torch/__init__.py", "torchgen/gen.py", "functorch/__init__.py")
    base = upstream.commit({name: (wheel / name).read_bytes() for name in names})
    head = upstream.commit(dict.fromkeys(names, "changed\n"))
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root is not None
    assert [(root / name).read_text() for name in names] == ["changed\n"] * 3


def test_a_change_of_modes_only_needs_no_overlay(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    base = upstream.commit({"torch/nn/linear.py": "newer\n"})
    (upstream.path / "torch/nn/linear.py").chmod(0o755)
    head = upstream.commit({})
    assert Change(git, wheel, base, head).overlay(tmp_path / "overlay") is None


def test_a_file_may_take_the_place_of_a_folder(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    files = {f"torch/optim/{name}": (wheel / f"torch/optim/{name}").read_text() for name in ("adam.py",)}
    base = upstream.commit(files)
    head = upstream.commit({**dict.fromkeys(files), "torch/optim.py": "one\n"})
    root = Change(git, wheel, base, head).overlay(tmp_path / "overlay")
    assert root is not None
    assert (root / "torch/optim.py").read_text() == "one\n"
    upstream.git("rm", "--quiet", "torch/optim.py")
    (upstream.path / "torch/optim").rmdir()
    bare = upstream.commit({"torch/optim": "no suffix\n"})
    root = Change(git, wheel, base, bare).overlay(tmp_path / "bare")
    assert root is not None
    assert (root / "torch/optim").read_text() == "no suffix\n"


def test_a_move_the_wheel_has_already_is_undone_for_base(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path
) -> None:
    base = upstream.commit({"torch/older.py": LONG})
    head = upstream.commit({"torch/older.py": None, "torch/long.py": LONG})
    change = Change(git, wheel, base, head)
    with_change, without = change.overlay(tmp_path / "head"), change.base(tmp_path / "base")
    assert with_change is not None
    assert without is not None
    assert not (with_change / "torch/older.py").exists()
    assert (with_change / "torch/long.py").read_text() == LONG
    assert (without / "torch/older.py").read_text() == LONG
    assert not (without / "torch/long.py").exists()
    assert "already has torch/older.py as torch/long.py" in change.plan().notes[0]


def test_a_move_takes_the_wheels_difference_along(upstream: Upstream, git: Git, wheel: Path, tmp_path: Path) -> None:
    newer = LONG.replace("line_0 = 0", "line_0 = 'newer'")
    base = upstream.commit({"torch/long.py": newer})
    head = upstream.commit({"torch/long.py": None, "torch/moved.py": newer.replace("= 19", "= 'c'")})
    change = Change(git, wheel, base, head)
    root, without = change.overlay(tmp_path / "head"), change.base(tmp_path / "base")
    assert root is not None
    assert without is not None
    assert (root / "torch/moved.py").read_text() == LONG.replace("= 19", "= 'c'")
    assert (without / "torch/long.py").read_text() == LONG


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("torch/unknown.py", "torch/moved.py", "does not have it"),
        ("torch/long.py", "torch/__init__.py", "another file"),
    ],
)
def test_a_move_the_wheel_does_not_fit_is_skew(
    upstream: Upstream, git: Git, wheel: Path, *, before: str, after: str, sentence: str
) -> None:
    base = upstream.commit({before: LONG})
    head = upstream.commit({before: None, after: LONG})
    with pytest.raises(SkewError, match=sentence):
        Change(git, wheel, base, head).plan()


@pytest.mark.parametrize("first", ["head", "base"])
@pytest.mark.parametrize("flags", [["-B"], []], ids=["as the runner starts them", "writing bytecode"])
def test_each_side_runs_its_own_code_though_size_and_time_agree(
    upstream: Upstream, git: Git, wheel: Path, tmp_path: Path, *, first: str, flags: list[str]
) -> None:
    """One character differs, and the wheel holds valid bytecode of base's text with that very size and time."""
    (wheel / "torch/nn/__init__.py").write_text("")
    shipped = wheel / "torch/nn/linear.py"
    shipped.write_text("SIDE = 'b'\n")
    base = upstream.commit({"torch/nn/linear.py": "SIDE = 'b'\n"})
    head = upstream.commit({"torch/nn/linear.py": "SIDE = 'h'\n"})
    change = Change(git, wheel, base, head)
    roots = {"head": change.overlay(tmp_path / "head"), "base": change.base(tmp_path / "base")}
    for folder in (wheel, *roots.values()):
        assert folder is not None
        os.utime(folder / "torch/nn/linear.py", ns=(10**18, 10**18))
    py_compile.compile(str(shipped), doraise=True)

    def run(side: str) -> str:
        command = [sys.executable, *flags, "-c", "import torch.nn.linear as m; print(m.SIDE, m.__spec__.origin)"]
        environment = {"PYTHONPATH": str(roots[side])}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    order = [first, "base" if first == "head" else "head"] * 2
    expected = {side: f"{side[0]} {roots[side]}/torch/nn/linear.py\n" for side in roots}
    assert [run(side) for side in order] == [expected[side] for side in order]


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
        [sys.executable, "-B", "-c", program],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "SPYRE_LIBRARY": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [f"{root}/torch/__init__.py", "changed", "2.0", "3"]
    assert "functional.cpython" not in " ".join(os.listdir(tmp_path / "overlay/torch/__pycache__"))
    assert sorted((wheel / "torch/__pycache__").iterdir()) == caches
    assert (wheel / "torch/functional.py").read_text() == shipped
