"""The errors that whole models have to find are where the benchmark believes they are."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from unidiff.patch import PatchSet

from selector.change.wheels import InstalledWheel
from tests.benchmarks.planted_in_torch import PLANTED, ChangedWheel, Planted


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_an_error_changes_one_place_of_the_installed_torch(planted: Planted) -> None:
    """And its diff says so, as the selector reads it."""
    wheel = InstalledWheel(Path(sysconfig.get_path("purelib")))
    changed = ChangedWheel(wheel, planted)
    (file,) = PatchSet(changed.diff())
    assert file.path == planted.path
    assert (file.added, file.removed) == (1, 1)
    with pytest.raises(ValueError, match="another torch is installed"):
        planted.put_in(changed.read(planted.path) or "")
