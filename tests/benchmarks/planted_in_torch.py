"""Errors that are put into torch's own Python, one at a time, for whole models to find.

Each is a small wrong number where an operator is decomposed or called, as a slip in a change would be; none of them
raises. The first three run only where a model is compiled; the others in every model that runs eagerly.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selector.change.wheels import InstalledWheel
from tests.workers.models.model_bench import changed_torch


@dataclass(frozen=True, slots=True)
class Planted:
    """In the file at `path` (from the folder that holds `torch/`), `right` becomes `wrong`. `layer` is a word that the
    name of the first diverging layer has."""

    name: str
    path: str
    right: str
    wrong: str
    layer: str

    def put_in(self, text: str) -> str:
        """The file with the error. Raises ValueError when it does not have the place, once."""
        count = text.count(self.right)
        if count != 1:
            raise ValueError(f"{self.path} has {count} places of {self.right!r}, not one: another torch is installed")
        return text.replace(self.right, self.wrong)


PLANTED: Sequence[Planted] = (
    Planted(
        "decomposition of silu",
        "torch/_inductor/decomposition.py",
        "    return x / (1 + x.neg().exp())\n",
        "    return x / (1 + (x * 1.05).neg().exp())\n",
        "mlp",
    ),
    Planted(
        "decomposition of softmax",
        "torch/_decomp/decompositions.py",
        "    unnormalized = torch.exp(x - x_max)\n    result =",
        "    unnormalized = torch.exp((x - x_max) * 0.95)\n    result =",
        "self_attn",
    ),
    Planted(
        "decomposition of safe_softmax",
        "torch/_decomp/decompositions.py",
        "    return torch.where(masked_rows, zeros, out)\n",
        "    return torch.where(masked_rows, zeros, out * 0.95)\n",
        "self_attn",
    ),
    Planted(
        "silu as a function",
        "torch/nn/functional.py",
        "    return torch._C._nn.silu(input)\n",
        "    return torch._C._nn.silu(input * 1.05)\n",
        "mlp",
    ),
    Planted(
        "layer_norm as a function",
        "torch/nn/functional.py",
        "        input, normalized_shape, weight, bias, eps, torch.backends.cudnn.enabled\n",
        "        input, normalized_shape, weight, bias, eps + 0.2, torch.backends.cudnn.enabled\n",
        "LayerNorm",
    ),
)


@dataclass(frozen=True, slots=True)
class ChangedWheel:
    """An installed torch as a tree, with the error in it."""

    wheel: InstalledWheel
    planted: Planted

    def read(self, path: str) -> str | None:
        text = self.wheel.read(path)
        return self.planted.put_in(text) if path == self.planted.path and text is not None else text

    def paths(self) -> Sequence[str]:
        return self.wheel.paths()

    def diff(self) -> str:
        """As git would give it, and nothing else is told of the error."""
        before, after = self.wheel.read(self.planted.path) or "", self.read(self.planted.path) or ""
        names = f"a/{self.planted.path}", f"b/{self.planted.path}"
        lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names)
        return f"diff --git {names[0]} {names[1]}\n{''.join(lines)}"


def torch_with(planted: Planted, folder: Path) -> Path:
    """A folder with a torch that has the error and is the installed one otherwise."""
    return changed_torch(folder, {planted.path.removeprefix("torch/"): planted.put_in})
