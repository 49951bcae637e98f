"""What a device lacks for a model: every operator that it refuses by a rule, done on the host instead, and counted.

A model that is refused at its first operator says nothing about the others. torch gets each refused call done by the
host on the device's own memory, as the device's profile allows for work of the harness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

#: Between the device's name and the rule in every refusal.
REFUSED = ": unsupported: "
_NAMED = 12


class _Helped(TorchDispatchMode):  # type: ignore[misc]  # torch has no types here
    """Runs what the device refuses with its rules switched off. `refused` counts it, by rule and reason."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self._module = module
        self.refused: Counter[str] = Counter()

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return function(*arguments, **(options or {}))
        except NotImplementedError as error:
            if not is_refusal(error):
                raise
            self.refused[_without_evidence(str(error))] += 1
            with self._module.host_work():
                return function(*arguments, **(options or {}))


def is_refusal(error: BaseException) -> bool:
    """Whether the device refused by a rule of its profile."""
    return isinstance(error, NotImplementedError) and REFUSED in str(error)


def with_help(device: str, call: Callable[[], Any]) -> tuple[Any, str]:
    """A call's answer with the host's help, and a sentence about all that the device refused meanwhile.

    Where the device has no way to be helped, the refusal is raised.
    """
    module = getattr(torch, device)
    with _Helped(module) as helped:
        answer = call()
    named = [f"{reason} ({count:,}x)" for reason, count in helped.refused.most_common(_NAMED)]
    more = len(helped.refused) - len(named)
    tail = f"; and {more} more" if more else ""
    return answer, f"The device refuses {len(helped.refused)} kinds of calls of this model: {'; '.join(named)}{tail}."


def _without_evidence(text: str) -> str:
    return text.partition(REFUSED)[2].partition(" (profile ")[0].strip()
