"""A small model in a checkout, the check that asks for it, and a torch with something wrong in it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from selector.manifests.models import TOLERANCES, Comparison, ModelCheck, ModelInput
from workers.models.references import References
from workers.models.running import ModelRun, run_model
from workers.runner.runner import Runner
from workers.runner.types import RunnerTree, TestOutcome, WantedTest

#: Every operator of it is one that torch-spyre has for float16, but for the activation where one is asked for.
SOURCE = """
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.activation = getattr(nn, activation)()
        self.softmax = nn.Softmax(-1)

    def forward(self, hidden):
        return hidden + self.softmax(self.activation(self.inner(hidden)) * 4)


class Tiny(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.embed = nn.Embedding(32, width)
        self.layers = nn.ModuleList([Mixer(width, activation) for _ in range(2)])
        self.head = nn.Linear(width, 32)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


def make(width=8, activation="ReLU"):
    return Tiny(width, activation)
"""
CHECK = ModelCheck(
    name="tiny",
    inputs=(ModelInput("", (2, 6), below=32, seed=1),),
    comparisons=tuple(Comparison),
    dtypes=("float32", "float16"),
    tolerances=TOLERANCES,
    import_path="tiny_model:make",
    output="",
    greedy_tokens=3,
    top_k=3,
)


@dataclass
class ModelBench:
    """A checkout on both sides, a folder of references, and the outcomes of the last run by what stands behind `::`."""

    folder: Path
    references: References = field(init=False)
    based: int = 0

    def __post_init__(self) -> None:
        self.references = References(self.folder / "references", "base")
        (self.tree.checkout / "test").mkdir(parents=True)
        (self.tree.checkout / "test/tiny_model.py").write_text(SOURCE)

    @property
    def tree(self) -> RunnerTree:
        return RunnerTree(self.folder / "upstream")

    def base(self) -> RunnerTree:
        self.based += 1
        return self.tree

    def run(self, runner: Runner, check: ModelCheck, torch_path: Path | None = None) -> dict[str, TestOutcome]:
        outcomes: list[TestOutcome] = []
        run_model(
            runner,
            replace(self.tree, torch_path=torch_path),
            ModelRun(check, self.references, self.base),
            [WantedTest(test.id) for test in check.collected()],
            on_outcome=outcomes.append,
            should_stop=lambda: False,
        )
        return {outcome.id.rpartition("::")[2]: outcome for outcome in outcomes}


def changed_torch(folder: Path, changes: Mapping[str, Callable[[str], str]]) -> Path:
    """A folder with a torch that is the installed one but for some of its files. Links, so it takes no time."""
    found = importlib.util.find_spec("torch")
    assert found is not None
    assert found.origin is not None
    _lay(Path(found.origin).parent, folder / "torch", changes)
    return folder


def _lay(source: Path, target: Path, changes: Mapping[str, Callable[[str], str]]) -> None:
    target.mkdir(parents=True)
    for entry in source.iterdir():
        below = {
            rest: change for path, change in changes.items() if (rest := path.removeprefix(f"{entry.name}/")) != path
        }
        if below:
            _lay(entry, target / entry.name, below)
        elif entry.name in changes:
            text = entry.read_text()
            changed = changes[entry.name](text)
            assert changed != text, f"{entry.name} has not what is to be changed"
            (target / entry.name).write_text(changed)
        elif entry.name != "__pycache__":
            (target / entry.name).symlink_to(entry)
