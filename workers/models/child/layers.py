"""Finds the first layer that differs: each layer of the model gets on the device what it got on the CPU.

A layer's own error is told from one that only reached it, because no layer gets another one's answer from the device.
Layers are compared in the order in which they finished, so the innermost comes first; one whose parts all agree differs
by what it does itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from workers.models.child.comparing import Tolerance, difference, excess

#: Of all that layers got and gave, in bytes; and calls of layers.
KEPT_BYTES = 64 << 20
KEPT_CALLS = 2_000
#: Of a layer's tolerance: what rounding alone stays below.
_CLOSE = 0.1
_PLAIN = (bool, int, float, str, type(None))


class _NotKeptError(Exception):
    """An argument of a layer that cannot be written down."""


@dataclass(slots=True)
class Recording:
    """The calls of layers, in the order of their ends: plain mappings, as they go into a file. `note` says why some are
    left out; empty when none is."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""


@dataclass(slots=True)
class _Recorder:
    recording: Recording = field(default_factory=Recording)
    _open: list[Any] = field(default_factory=list)
    _copies: dict[tuple[int, int], tuple[Any, Any]] = field(default_factory=dict)
    _bytes: int = 0

    def before(self, _: Any, arguments: Any, options: Any) -> None:
        if self._bytes > KEPT_BYTES or len(self.recording.calls) >= KEPT_CALLS:
            self.recording.note = "the model is too large for all of its layers to be kept; some are not compared"
            self._open.append(None)
            return
        try:
            self._open.append(self._kept([list(arguments), dict(options)]))
        except _NotKeptError:
            self._open.append(None)

    def after(self, name: str, answer: Any) -> None:
        inputs = self._open.pop()
        if inputs is not None:
            outputs = [self._kept(one) for one in tensors_of(answer)]
            self.recording.calls.append({"layer": name, "inputs": inputs, "outputs": outputs})

    def _kept(self, value: Any) -> Any:
        """A copy, as layers may change what they got. One tensor has one copy, or a model's hidden states would be kept
        once for every layer around them."""
        if isinstance(value, torch.Tensor):
            known = self._copies.get((id(value), value._version))
            if known is None:
                known = self._copies[id(value), value._version] = (value, value.detach().clone())
                self._bytes += value.nbytes
            return known[1]
        if type(value) in (list, tuple):
            return type(value)(self._kept(one) for one in value)
        if type(value) is dict:
            return {name: self._kept(one) for name, one in value.items()}
        if type(value) in _PLAIN:
            return value
        raise _NotKeptError


def record(model: Any, call: Callable[[], Any]) -> Recording:
    """Make a call of the model and keep what every layer got and gave."""
    recorder = _Recorder()
    hooks = []
    for name, layer in model.named_modules():
        hooks.append(layer.register_forward_pre_hook(recorder.before, with_kwargs=True))
        hooks.append(layer.register_forward_hook(lambda _l, _i, answer, name=name: recorder.after(name, answer)))
    try:
        call()
    finally:
        for hook in hooks:
            hook.remove()
    return recorder.recording


def tensors_of(value: Any) -> Iterator[Any]:
    """The tensors inside an answer, in their order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from tensors_of(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from tensors_of(one)


def moved(value: Any, device: str) -> Any:
    """A kept value with its tensors on a device; copies, so that a layer that writes spoils nothing."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().to(device)
    if isinstance(value, list | tuple):
        return type(value)(moved(one, device) for one in value)
    if isinstance(value, dict):
        return {name: moved(one, device) for name, one in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class Replay:
    """Runs the kept calls again, layer by layer, on a model that is on the device. `compiled` makes of a layer what is
    called in its place."""

    model: Any
    device: str
    tolerance: Tolerance
    compiled: Callable[[Any], Any]

    def first_divergence(self, recording: Recording) -> str:
        """A sentence about the first layer that differs or fails by itself, or about why none does."""
        layers = dict(self.model.named_modules())
        agreed: list[tuple[float, str]] = []
        for call in recording.calls:
            name = call["layer"]
            layer = layers.get(name)
            if layer is None:
                return f"first diverging layer: {_named(name)}, which the model does not have on this side."
            shown = f"{_named(name)} ({type(layer).__name__})"
            wrong, times = self._compared(layer, call)
            if wrong:
                parts = [one for one in agreed if one[1].startswith(f"{name}." if name else "")]
                found = f"first diverging layer: {shown}, given what it got on the CPU: {wrong}. {_before(len(agreed))}"
                return f"{found}{_closest('Of its own parts', parts)}"
            agreed.append((times, shown))
        text = (
            f"no single layer differs: {len(agreed):,} calls of layers agree when each is given what it got on the CPU."
        )
        left_out = f" {recording.note[:1].upper()}{recording.note[1:]}." if recording.note else ""
        return f"{text}{_closest('The difference adds up; of all', agreed)}{left_out}"

    def _compared(self, layer: Any, call: Mapping[str, Any]) -> tuple[str, float]:
        """How the layer differs ("" when it does not), and how often its tolerance fits into the largest distance."""
        arguments, options = moved(call["inputs"], self.device)
        try:
            answer = [one.cpu() for one in tensors_of(self.compiled(layer)(*arguments, **options))]
        except Exception as error:  # noqa: BLE001 - whatever a layer raises is what is told of it
            return f"it raises {type(error).__name__}: {first_line(error)}", 0.0
        if len(answer) != len(call["outputs"]):
            return f"it gives {len(answer)} tensors, {len(call['outputs'])} on the CPU", 0.0
        pairs = list(zip(answer, call["outputs"], strict=True))
        wrong = next((text for ours, cpu in pairs if (text := difference(ours, cpu, self.tolerance))), "")
        largest = [float(excess(ours, cpu, self.tolerance).max()) for ours, cpu in pairs if not wrong and cpu.numel()]
        return wrong, max(largest, default=0.0)


def first_line(error: BaseException) -> str:
    """What an error says first, in at most 300 characters."""
    return str(error).strip().split("\n")[0][:300]


def _named(layer: str) -> str:
    return layer or "the model itself, outside of its layers"


def _before(count: int) -> str:
    return "No layer finishes before it." if count == 0 else f"The {count:,} calls of layers before it agree."


def _closest(whose: str, agreed: Iterable[tuple[float, str]]) -> str:
    """Which of the layers that agree comes closest to its tolerance; nothing when all are far from it."""
    times, shown = max(agreed, default=(0.0, ""))
    return f" {whose}, {shown} comes closest to its tolerance, with {times:.0%} of it." if times >= _CLOSE else ""
