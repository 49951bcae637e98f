"""Holding two answers against each other."""

from __future__ import annotations

import math

import pytest
import torch

from workers.models.child.answering import Decoded
from workers.models.child.comparing import Tolerance, best_places, difference, token_difference, top_difference

CLOSE = Tolerance(0.01, 0.1)


@pytest.mark.parametrize(
    ("device", "cpu"), [(1.1, 1.0), (0.01, 0.0), (math.inf, math.inf), (math.nan, math.nan), (-0.0, 0.0)]
)
def test_numbers_agree(device: float, cpu: float) -> None:
    """Within the tolerance, or the same where they are not finite."""
    assert difference(torch.tensor([device]), torch.tensor([cpu]), CLOSE) == ""


@pytest.mark.parametrize(
    ("device", "cpu"), [(1.2, 1.0), (0.02, 0.0), (math.inf, 1.0), (1.0, math.inf), (math.nan, 1.0), (1.0, math.nan)]
)
def test_numbers_differ(device: float, cpu: float) -> None:
    found = difference(torch.tensor([[0.0, device]]), torch.tensor([[0.0, cpu]]), CLOSE)
    assert found.startswith("1 of 2 numbers differ by more than 0.01 + 0.1 * |CPU|; worst at [0, 1]: ")


def test_a_tolerance_of_nothing_asks_for_the_same_numbers() -> None:
    exact = Tolerance(0, 0)
    assert difference(torch.zeros(2), torch.zeros(2), exact) == ""
    assert difference(torch.tensor([0.0, 1e-30]), torch.zeros(2), exact).startswith("1 of 2 numbers")


def test_shapes_and_dtypes_are_compared_first() -> None:
    assert difference(torch.zeros(2), torch.zeros(1, 2), CLOSE) == "the device's shape is [2], the CPU's [1, 2]"
    found = difference(torch.zeros(2).half(), torch.zeros(2), CLOSE)
    assert found == "the device's dtype is torch.float16, the CPU's torch.float32"


def test_truth_values_and_whole_numbers_can_be_compared() -> None:
    """Masks and places are answers of layers too."""
    assert difference(torch.tensor([True]), torch.tensor([False]), CLOSE).startswith("1 of 1")
    assert difference(torch.tensor([7]), torch.tensor([7]), CLOSE) == ""


def test_another_token_is_a_difference_unless_the_scores_are_too_close() -> None:
    """And after a step that is left to chance nothing is compared, since all of it follows from that step."""
    scores = torch.tensor([[[1.0, 2.0, 0.0], [0.0, 5.0, 1.0]]])
    cpu = Decoded(torch.tensor([[1, 1]]), scores)
    assert token_difference(cpu, cpu, CLOSE) == ""
    found = token_difference(Decoded(torch.tensor([[1, 2]]), scores), cpu, CLOSE)
    assert found.startswith("row 0 takes token 2 at step 2 of 2 where the CPU takes 1, whose score there is 4 better")
    level = Decoded(torch.tensor([[1, 1]]), torch.tensor([[[1.99, 2.0, 0.0], [0.0, 5.0, 1.0]]]))
    assert token_difference(Decoded(torch.tensor([[0, 0]]), scores), level, CLOSE) == ""


def test_the_row_with_the_fewest_of_the_best_counts() -> None:
    """Only the last position of each row is looked at."""
    cpu = torch.tensor([[[9.0, 0, 0, 0], [4, 3, 2, 1]], [[9.0, 0, 0, 0], [4, 3, 2, 1]]])
    device = torch.tensor([[[0.0, 0, 0, 9], [4, 3, 2, 1]], [[0.0, 0, 0, 9], [4, 1, 2, 3]]])
    assert best_places(cpu[0], 2) == {0, 1}
    assert top_difference(device, cpu, 2, 0.5) == ""
    found = top_difference(device, cpu, 2, 1.0)
    assert found.startswith("row 1 has 1 of the CPU's 2 best in common, 100% are asked for; ")
    assert found.endswith("only the device has [3], only the CPU [1]")
    assert top_difference(device, cpu, 99, 1.0) == ""
