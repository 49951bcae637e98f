"""What a model answers: the numbers of one call, and the tokens of greedy decoding with the scores behind each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from workers.models.child.building import ModelError, Prepared


@dataclass(frozen=True, slots=True)
class Decoded:
    """Tokens by (row, step), and the scores they were chosen from by (row, step, token); on the CPU."""

    tokens: Any
    scores: Any


def on(device: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, moved to a device."""
    return {name: value.to(device) for name, value in arguments.items()}


def numbers(prepared: Prepared, output: str, device: str) -> Any:
    """The tensor that is compared, on the CPU. Raises `ModelError` when the answer has no such tensor."""
    return _picked(prepared.call(on(device, prepared.arguments)), output).cpu()


def decoded(prepared: Prepared, output: str, device: str, steps: int) -> Decoded:
    """Greedy decoding of `steps` tokens: by the model's own `generate` where it has one, which keeps a cache of keys as
    programs do; else by calling it with all tokens again and again. Raises `ModelError`."""
    if prepared.tokens is None:
        raise ModelError("greedy decoding needs an input of the kind `tokens`.")
    can_generate: Callable[[], bool] = getattr(prepared.model, "can_generate", lambda: False)
    arguments = on(device, prepared.arguments)
    if can_generate():
        return _generated(prepared, arguments, prepared.tokens, steps)
    return _called_again(prepared, arguments, prepared.tokens, output, steps)


def _generated(prepared: Prepared, arguments: dict[str, Any], tokens: str, steps: int) -> Decoded:
    first = arguments.pop(tokens)
    made = prepared.model.generate(
        first,
        **arguments,
        max_new_tokens=steps,
        min_new_tokens=steps,
        do_sample=False,
        use_cache=True,
        pad_token_id=0,
        eos_token_id=None,
        return_dict_in_generate=True,
        output_logits=True,
    )
    scores = torch.stack([step.cpu() for step in made.logits], dim=1)
    return Decoded(made.sequences[:, first.shape[1] :].cpu(), scores)


def _called_again(prepared: Prepared, arguments: dict[str, Any], tokens: str, output: str, steps: int) -> Decoded:
    chosen, scores = [], []
    for _ in range(steps):
        last = _picked(prepared.call(arguments), output)[:, -1].cpu()
        best = last.argmax(-1, keepdim=True)
        chosen.append(best)
        scores.append(last)
        arguments = _longer(arguments, tokens, best)
    return Decoded(torch.cat(chosen, dim=1), torch.stack(scores, dim=1))


def _longer(arguments: Mapping[str, Any], tokens: str, best: Any) -> dict[str, Any]:
    """With the new tokens behind the old ones. What is shaped as the tokens (a mask) repeats its last column."""
    shape = arguments[tokens].shape
    longer = {}
    for name, value in arguments.items():
        added = best.to(value.device) if name == tokens else value[:, -1:] if value.shape == shape else None
        longer[name] = value if added is None else torch.cat([value, added], dim=1)
    return longer


def _picked(answer: Any, output: str) -> Any:
    """The tensor `output` of an answer; the answer itself, or its first part, where no name is given."""
    found = getattr(answer, output, None) if output else answer
    if not output and isinstance(found, tuple | list) and found:
        found = found[0]
    if not isinstance(found, torch.Tensor):
        wanted = f"no tensor {output!r}" if output else "no tensor"
        raise ModelError(f"the model's answer, a {type(answer).__name__}, has {wanted}; see `output` of the check.")
    return found
