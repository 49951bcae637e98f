"""The verdict of one test of a check: the device's answer against the CPU's, and where a difference begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from workers.models.child.answering import decoded, numbers
from workers.models.child.building import ModelError, Prepared, prepare
from workers.models.child.comparing import Tolerance, difference, token_difference, top_difference
from workers.models.child.lacking import is_refusal, with_help
from workers.models.child.layers import Replay, first_line
from workers.models.child.reference import DtypeReference, parameter_digests


@dataclass(slots=True)
class Side:
    """A check on one device, with what the CPU answers. Models are made once for each dtype."""

    check: Mapping[str, Any]
    references: Mapping[str, DtypeReference]
    device: str
    _prepared: dict[str, Prepared] = field(default_factory=dict)

    def prepared(self, dtype: str) -> Prepared:
        """The model in one dtype, on the device. Raises `ModelError` when its parameters are not those of the CPU."""
        if dtype not in self._prepared:
            found = prepare(self.check, dtype)
            self._require_same(found.model, dtype)
            found.model.to(self.device)
            if self.check["compiled_by"]:
                found.model.compile(backend=self.check["compiled_by"])
            self._prepared[dtype] = found
        return self._prepared[dtype]

    def tolerance(self, dtype: str) -> Tolerance:
        return Tolerance(**self.check["tolerances"][dtype])

    def compiled(self, layer: Any) -> Any:
        """What is called in a layer's place. Each is compiled anew, or torch would give up after a few of a kind."""
        if not self.check["compiled_by"]:
            return layer
        torch._dynamo.reset()
        return torch.compile(layer, backend=self.check["compiled_by"])

    def _require_same(self, model: Any, dtype: str) -> None:
        expected = self.references[dtype].parameters
        found = parameter_digests(model)
        other = next((name for name in {**expected, **found} if expected.get(name) != found.get(name)), None)
        if other is not None:
            raise ModelError(
                f"the model is made differently here than on base: its parameter {other} has other values. "
                "What torch draws from a seed, or reads from a folder, has changed, so the answers cannot be compared."
            )


def verdict(side: Side, test: str) -> str:
    """Why a test does not pass; empty when it does. `test` ends in `::<comparison>[<dtype>]`. Raises what making the
    model raises."""
    comparison, _, dtype = test.rpartition("::")[2].removesuffix("]").partition("[")
    if dtype not in side.references:
        raise ModelError(f"the model check has no dtype {dtype!r}.")
    prepared = side.prepared(dtype)

    def compared() -> str:
        return _COMPARISONS[comparison](side, prepared, dtype)

    try:
        wrong = compared()
    except ModelError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the device raises is its answer
        if is_refusal(error):
            return _refused(side, error, compared, dtype)
        wrong = f"{type(error).__name__}: {first_line(error)}"
    return f"{wrong}\n{_first_divergence(side, prepared, dtype)}" if wrong else ""


def _refused(side: Side, error: BaseException, compared: Callable[[], str], dtype: str) -> str:
    """The refusal first, whose rule makes the verdict `unsupported`. Then all that is missing, and what would be."""
    refusal, where = first_line(error), _first_divergence(side, side.prepared(dtype), dtype)
    if side.check["compiled_by"]:
        return f"{refusal}\n{where}"
    wrong, lacking = with_help(side.device, compared)
    outcome = f"the answer differs: {wrong}." if wrong else "the answer agrees with the CPU's."
    return f"{refusal}\n{where}\n{lacking}\nWith these done by the host {outcome}"


def _first_divergence(side: Side, prepared: Prepared, dtype: str) -> str:
    replay = Replay(prepared.model, side.device, side.tolerance(dtype), side.compiled)
    return replay.first_divergence(side.references[dtype].recording)


def _logits(side: Side, prepared: Prepared, dtype: str) -> str:
    ours = numbers(prepared, side.check["output"], side.device)
    wrong = difference(ours, side.references[dtype].output, side.tolerance(dtype))
    return f"{side.check['output'] or 'answer'}: {wrong}" if wrong else ""


def _greedy(side: Side, prepared: Prepared, dtype: str) -> str:
    ours = decoded(prepared, side.check["output"], side.device, side.check["greedy_tokens"])
    theirs = side.references[dtype].decoded
    wrong = "the reference has none" if theirs is None else token_difference(ours, theirs, side.tolerance(dtype))
    return f"greedy decoding: {wrong}" if wrong else ""


def _top_k(side: Side, prepared: Prepared, dtype: str) -> str:
    ours = numbers(prepared, side.check["output"], side.device)
    wrong = top_difference(ours, side.references[dtype].output, side.check["top_k"], side.check["agreement"])
    return f"top {side.check['top_k']}: {wrong}" if wrong else ""


_COMPARISONS: Mapping[str, Callable[[Side, Prepared, str], str]] = {
    "logits": _logits,
    "greedy": _greedy,
    "top_k": _top_k,
}
