"""What of torch a model is seen to use."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from workers.models.child.uses import uses


class Attending(nn.Module):  # type: ignore[misc]  # torch has no types here
    """One linear layer with attention and an activation behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, tokens: Any) -> Any:
        hidden = self.inner(torch.nn.functional.one_hot(tokens, 4).to(self.inner.weight.dtype))
        return torch.softmax(nn.functional.scaled_dot_product_attention(hidden, hidden, hidden), -1)


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    module: Any = ModuleType("attending")
    module.make = Attending
    monkeypatch.setitem(sys.modules, "attending", module)
    return {
        "name": "attending",
        "inputs": [{"name": "tokens", "shape": [1, 3], "kind": "tokens", "below": 4, "seed": 1}],
        "comparisons": ["logits"],
        "dtypes": ["float32"],
        "import_path": "attending:make",
        "arguments": {},
        "transformers": None,
        "weights": "",
        "seed": 0,
        "output": "",
        "compiled_by": "",
    }


def test_operators_are_those_that_are_called_and_those_that_are_computed(check: dict[str, Any]) -> None:
    """Attention both as one operator and written out, as a device without the operator runs it."""
    found = uses(check)
    assert {"aten::linear", "aten::softmax", "aten::_softmax", "aten::bmm"} <= set(found["operators"])
    assert {"aten::scaled_dot_product_attention", "aten::_safe_softmax"} <= set(found["operators"])
    assert "aten::amax" not in found["operators"]


def test_names_are_those_of_functions_and_of_classes_with_what_they_inherit_from(check: dict[str, Any]) -> None:
    names = set(uses(check)["names"])
    assert {"torch.nn.modules.linear.Linear", "torch.nn.modules.module.Module"} <= names
    assert not any(name.startswith("attending") for name in names)


def test_of_a_model_to_be_compiled_what_its_operators_are_made_of_counts_too(check: dict[str, Any]) -> None:
    found = uses({**check, "compiled_by": "aot_eager_decomp_partition"})
    assert {"aten::amax", "aten::exp"} <= set(found["operators"])
