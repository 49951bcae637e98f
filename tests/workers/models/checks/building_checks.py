"""Making models and their inputs, and asking them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from workers.models.child.answering import decoded, numbers
from workers.models.child.building import ModelError, prepare
from workers.models.child.reference import made, read
from workers.runner.child.device import WEIGHTS_VARIABLE


class Counting(nn.Module):  # type: ignore[misc]  # torch has no types here
    """Scores the token that is one higher than the last, if its mask lets it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.eye(size).roll(1, 1))
        self.noise = nn.Linear(size, size)

    def forward(self, tokens: Any, mask: Any) -> dict[str, Any]:
        return {"scores": self.table[tokens] * mask[..., None].to(self.table.dtype)}


def make(size: int = 5) -> Any:
    return Counting(size)


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    module: Any = ModuleType("counting")
    module.make, module.number = make, 3
    monkeypatch.setitem(sys.modules, "counting", module)
    tokens = {"name": "tokens", "shape": [2, 3], "kind": "tokens", "below": 5, "seed": 1}
    mask = {"name": "mask", "shape": [2, 3], "kind": "ones", "below": 0, "seed": 0}
    return {
        "name": "counting",
        "inputs": [tokens, mask],
        "comparisons": ["greedy"],
        "dtypes": ["float32", "bfloat16"],
        "import_path": "counting:make",
        "arguments": {"size": 6},
        "transformers": None,
        "weights": "",
        "seed": 4,
        "output": "",
        "greedy_tokens": 2,
    }


def test_parameters_and_inputs_are_the_same_every_time(check: dict[str, Any]) -> None:
    """Drawn in float32, whatever the dtype, and cast."""
    first, again, half = prepare(check, "float32"), prepare(check, "float32"), prepare(check, "bfloat16")
    assert torch.equal(first.model.noise.weight, again.model.noise.weight)
    assert torch.equal(first.model.noise.weight.bfloat16(), half.model.noise.weight)
    assert torch.equal(first.arguments["tokens"], half.arguments["tokens"])
    assert not any(parameter.requires_grad for parameter in first.model.parameters())
    assert first.model.table.shape == (6, 6)


def test_tokens_follow_each_other_and_a_mask_grows_with_them(check: dict[str, Any]) -> None:
    """A model without `generate` is called with all tokens again."""

    class Scoring(Counting):
        def forward(self, tokens: Any, mask: Any) -> Any:
            assert tokens.shape == mask.shape
            return super().forward(tokens, mask)["scores"]

    sys.modules["counting"].make = Scoring  # type: ignore[attr-defined]  # the module of this test
    prepared = prepare(check, "float32")
    found = decoded(prepared, "", "cpu", 3)
    last = prepared.arguments["tokens"][:, -1:]
    assert torch.equal(found.tokens, (last + torch.arange(1, 4)) % 6)
    assert found.scores.shape == (2, 3, 6)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"import_path": "counting:missing"}, "the module counting has no function 'missing' that makes the model."),
        ({"import_path": "counting:number"}, "the module counting has no function 'number' that makes the model."),
        ({"import_path": "nothing_here:make"}, "this Python has no module 'nothing_here', which the model counting"),
        ({"import_path": "builtins:dict", "arguments": {}}, "builtins:dict gave a dict, not a torch.nn.Module."),
        (
            {"import_path": "", "weights": "none"},
            "there is no folder 'none' with weights that tests may read;",
        ),
    ],
)
def test_what_cannot_be_made_is_told_in_a_sentence(check: dict[str, Any], changed: Any, sentence: str) -> None:
    with pytest.raises(ModelError) as raised:
        prepare({**check, **changed}, "float32")
    assert str(raised.value).startswith(sentence)


def test_an_answer_without_the_named_tensor_is_told(check: dict[str, Any]) -> None:
    prepared = prepare(check, "float32")
    with pytest.raises(ModelError, match=r"a dict, has no tensor 'logits'; see `output`"):
        numbers(prepared, "logits", "cpu")
    with pytest.raises(ModelError, match="no dtype 'float31'"):
        prepare(check, "float31")


def test_a_reference_is_read_as_it_was_made(check: dict[str, Any]) -> None:
    """By torch's reader that runs nothing of what a file says."""

    class Scoring(Counting):
        def forward(self, tokens: Any, mask: Any) -> Any:
            return super().forward(tokens, mask)["scores"]

    sys.modules["counting"].make = Scoring  # type: ignore[attr-defined]  # the module of this test
    with torch.no_grad():
        found = read(made(check))
    assert list(found) == ["float32", "bfloat16"]
    assert found["float32"].output is None
    assert found["float32"].decoded is not None
    assert found["float32"].decoded.tokens.shape == (2, 2)
    assert list(found["float32"].parameters) == ["table", "noise.weight", "noise.bias"]
    assert [call["layer"] for call in found["bfloat16"].recording.calls] == [""]


def test_weights_are_read_from_a_folder(check: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class that the folder's own configuration names; nothing is fetched. A name begins in the worker's folder."""
    import transformers  # the one check that pays for it

    configuration = transformers.LlamaConfig(
        vocab_size=16, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2
    )
    kept = transformers.LlamaForCausalLM(configuration)
    kept.save_pretrained(tmp_path / "small")
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path))
    found = prepare({**check, "import_path": "", "weights": "small"}, "float32").model
    assert type(found).__name__ == "LlamaForCausalLM"
    assert torch.equal(found.lm_head.weight, kept.lm_head.weight)


@pytest.mark.parametrize(("own", "width"), [({}, 0.25), ({"initializer_range": 0.02}, 0.02)])
def test_parameters_are_wide_enough_for_a_narrow_model(check: dict[str, Any], own: Any, width: float) -> None:
    """transformers' own 0.02 leaves a model of this size almost linear; what a manifest says counts."""
    sizes = {
        "vocab_size": 512,
        "hidden_size": 16,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        **own,
    }
    source = {"config": "LlamaConfig", "sizes": sizes, "model": "LlamaForCausalLM"}
    model = prepare({**check, "import_path": "", "transformers": source}, "float32").model
    assert model.lm_head.weight.std().item() == pytest.approx(width, rel=0.1)
