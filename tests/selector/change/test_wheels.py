"""A wheel is the same tree as an archive and as a folder, without what is compiled."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from selector.change import Effect, FactKind, analyse_trees
from selector.change.wheels import WheelArchive, open_wheel
from selector.trees import TreeError

FILES = {
    "torch/__init__.py": "x = 1\n",
    "torch/include/c10/core/Device.h": "struct Device {};\n",
    "torch/lib/libtorch.so.2": "",
    "torch/bin/protoc": "",
    "torch/__pycache__/a.pyc": "",
    "torchgen/packaged/ATen/native/native_functions.yaml": "- func: a(Tensor self) -> Tensor\n",
    "numpy/__init__.py": "y = 1\n",
}
SOURCE = [path for path in sorted(FILES) if path.endswith((".py", ".h", ".yaml")) and not path.startswith("numpy")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / "site" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / path).write_text(text)
    return tmp_path / "site"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "torch.whl", "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text.replace("struct Device {}", "struct Device { int a; }"))
    return tmp_path / "torch.whl"


def test_both_have_the_source_of_torch_alone(folder: Path, archive: Path) -> None:
    assert open_wheel(folder).paths() == open_wheel(archive).paths() == SOURCE
    assert open_wheel(folder).read("numpy/__init__.py") is None


def test_two_wheels_are_compared_like_two_trees(folder: Path, archive: Path) -> None:
    with WheelArchive(archive) as head:
        (fact,) = analyse_trees(open_wheel(folder), head).facts
    assert (fact.file, fact.kind, fact.symbol, fact.effect) == (
        "torch/include/c10/core/Device.h",
        FactKind.HEADER,
        "Device",
        Effect.ABI,
    )


def test_what_is_no_wheel_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("no archive")
    for path, words in ((tmp_path / "a.whl", "no wheel"), (tmp_path, "no torch is installed")):
        with pytest.raises(TreeError, match=words):
            open_wheel(path)


def test_a_file_that_an_archive_lacks_cannot_be_read(archive: Path) -> None:
    with WheelArchive(archive) as wheel:
        assert wheel.read("torch/missing.py") is None
