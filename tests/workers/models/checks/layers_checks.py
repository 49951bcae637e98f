"""Finding the layer in which a difference begins. Both sides are the CPU: what is wrong is put into the model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from workers.models.child import layers
from workers.models.child.comparing import Tolerance
from workers.models.child.layers import Recording, Replay, record


class Wrong(nn.Module):  # type: ignore[misc]  # torch has no types here
    """Doubles what another layer gives."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, given: Any) -> Any:
        return self.inner(given) * 2


class Block(nn.Module):  # type: ignore[misc]  # torch has no types here
    """Works in place, takes options, gives a tuple."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.ReLU(inplace=True)

    def forward(self, given: Any, *, scale: float = 1.0, pair: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
        hidden = self.second(self.first(given)) * scale
        return (hidden if pair is None else hidden + pair[0]), given


class Small(nn.Module):  # type: ignore[misc]  # torch has no types here
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.factor = Block(), Block(), 1.0

    def forward(self, given: Any) -> Any:
        hidden, _ = self.one(given, scale=3.0)
        hidden, _ = self.two(hidden, pair=(given, None))
        return hidden * self.factor


def small() -> Any:
    torch.manual_seed(0)
    return Small().eval()


def divergence(model: Any, recording: Recording) -> str:
    with torch.no_grad():
        return Replay(model, "cpu", Tolerance(1e-5, 1e-5), lambda layer: layer).first_divergence(recording)


@pytest.fixture
def recording() -> Recording:
    with torch.no_grad():
        model = small()
        return record(model, lambda: model(torch.ones(2, 4)))


def test_calls_are_kept_in_the_order_in_which_they_end(recording: Recording) -> None:
    """Parts before what they are parts of; what a layer changes in place is kept as it was before."""
    names = [call["layer"] for call in recording.calls]
    assert names == ["one.first", "one.second", "one", "two.first", "two.second", "two", ""]
    (given,), _ = recording.calls[1]["inputs"]
    (answer,) = recording.calls[0]["outputs"]
    assert torch.equal(given, answer)
    assert (given < 0).any()


def test_a_model_that_does_the_same_differs_nowhere(recording: Recording) -> None:
    found = divergence(small(), recording)
    assert found == "no single layer differs: 7 calls of layers agree when each is given what it got on the CPU."


def test_the_innermost_layer_is_named_first(recording: Recording) -> None:
    """`two` and the whole model differ as well, and come later."""
    model = small()
    model.two.second = Wrong(nn.ReLU())
    found = divergence(model, recording)
    assert found.startswith("first diverging layer: two.second (Wrong), given what it got on the CPU: ")
    assert found.endswith("The 4 calls of layers before it agree.")


def test_a_layer_whose_parts_agree_differs_by_itself(recording: Recording) -> None:
    model = small()
    model.factor = 2.0
    assert divergence(model, recording).startswith(
        "first diverging layer: the model itself, outside of its layers (Small), given"
    )


def test_the_part_that_is_nearly_wrong_is_named_beside_its_layer(recording: Recording) -> None:
    """It stays below its own tolerance and is blown up by the layer around it."""
    model = small()
    with torch.no_grad():
        model.one.first.bias += 9.9e-6
    found = divergence(model, recording)
    assert found.startswith("first diverging layer: one (Block), given what it got on the CPU: ")
    assert "Of its own parts, one.first (Linear) comes closest to its tolerance, with" in found


def test_a_layer_that_fails_or_is_gone_is_named_too(recording: Recording) -> None:
    model = small()
    model.one.first = nn.Linear(3, 3)
    assert "one.first (Linear), given what it got on the CPU: it raises RuntimeError: " in divergence(model, recording)
    del model.one.first
    assert divergence(model, recording) == (
        "first diverging layer: one.first, which the model does not have on this side."
    )


def test_a_difference_that_adds_up_names_the_layer_that_is_closest(recording: Recording) -> None:
    model = small()
    with torch.no_grad():
        model.two.first.bias += 8e-6
    found = divergence(model, recording)
    assert found.startswith("no single layer differs: 7 calls")
    assert "The difference adds up; of all, two" in found


def test_a_model_too_large_to_be_kept_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "KEPT_CALLS", 2)
    model = small()
    with torch.no_grad():
        recording = record(model, lambda: model(torch.ones(2, 4)))
    assert [call["layer"] for call in recording.calls] == ["one.first", "one.second", "one", ""]  # entered before
    assert divergence(small(), recording).endswith("for all of its layers to be kept; some are not compared.")
