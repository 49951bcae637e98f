"""The names that stand in for dropped ones are added where they are gone, and nowhere else."""

from __future__ import annotations

import runpy
from pathlib import Path

from tests.benchmarks.stand_ins import STAND_INS, with_stand_ins


def _wheel(folder: Path, texts: dict[str, str]) -> Path:
    for path in STAND_INS:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts.get(path.name, "binary_ufuncs, python_ref_db = [], []\n"))
    return folder


def test_a_dropped_name_stands_in_and_does_nothing(tmp_path: Path) -> None:
    overlay, names = with_stand_ins(_wheel(tmp_path / "wheel", {}), tmp_path / "overlay")
    assert overlay is not None
    assert names == ["bf32_on_and_off", "binary_ufuncs_and_refs", "tf32_is_not_fp32"]
    internal = overlay / "torch/testing/_internal"
    assert runpy.run_path(str(internal / "common_cuda.py"))["tf32_is_not_fp32"]() is False
    test = object()
    assert runpy.run_path(str(internal / "common_mkldnn.py"))["bf32_on_and_off"](0.1)(test) is test
    assert runpy.run_path(str(internal / "common_methods_invocations.py"))["binary_ufuncs_and_refs"] == []


def test_a_name_that_is_there_stays_what_it_is(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path / "wheel", {"common_cuda.py": "tf32_is_not_fp32 = 'own'\n"})
    overlay, names = with_stand_ins(wheel, tmp_path / "overlay")
    assert overlay is not None
    assert "tf32_is_not_fp32" not in names
    assert runpy.run_path(str(overlay / "torch/testing/_internal/common_cuda.py"))["tf32_is_not_fp32"] == "own"


def test_a_wheel_that_lacks_nothing_is_taken_as_it_is(tmp_path: Path) -> None:
    texts = {path.name: "".join(f"{name} = 1\n" for name in names) for path, names in STAND_INS.items()}
    assert with_stand_ins(_wheel(tmp_path / "wheel", texts), tmp_path / "overlay") == (None, [])
