"""The report of operators that the device ran."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def _nothing_before() -> None:
    torch.spyre.take_operators()


def test_the_report_names_what_was_called_and_starts_again() -> None:
    """Each operator once, with its overload; a second call right after the first has nothing to tell."""
    ones = torch.ones(2, 2, device="spyre")
    total = (ones + ones + 1).sum(0)
    ones.add_(total)
    seen = torch.spyre.take_operators()
    assert len(seen) == len(set(seen))
    assert {"aten::empty.memory_format", "aten::add.Tensor", "aten::add_.Tensor", "aten::sum.dim_IntList"} <= set(seen)
    assert torch.spyre.take_operators() == []


def test_copies_and_fused_cells_are_in_the_report() -> None:
    """Operators with a kernel of their own are noted like those that go through the host."""
    cell = torch.nn.GRUCell(3, 4).to("spyre")
    cell(torch.ones(2, 3).to("spyre"))
    assert {"aten::_copy_from", "aten::_thnn_fused_gru_cell"} <= set(torch.spyre.take_operators())


def test_work_on_the_host_is_not_in_the_report() -> None:
    """Only what the device ran counts."""
    (torch.ones(3) * 2).sum().item()
    assert torch.spyre.take_operators() == []


def test_operators_of_a_dropped_library_leave_the_names_of_later_ones_right() -> None:
    """torch may put a new operator where a dropped one was; the report names the new one."""
    for name in ("first", "second", "third"):
        library = torch.library.Library("dropped", "DEF")
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, lambda x: x + 1, "CPU")
        getattr(torch.ops.dropped, name)(torch.ones(1, device="spyre"))
        assert f"dropped::{name}" in torch.spyre.take_operators()
        library._destroy()
