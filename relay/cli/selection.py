"""Run the selector on a local change. The selector decides; nothing here judges a test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from relay.cli import selection_text
from relay.cli.change import LocalChange, NoChange, read_change
from relay.cli.connect import load_settings
from relay.cli.manifests.folder import read_manifests
from relay.cli.model import budget_of, configured_model
from relay.cli.output import Output, one_line
from relay.cli.user_cache import local_known, read_map, user_catalog
from selector.catalog import Catalog, build_catalog
from selector.cut import Cut
from selector.manifests import ManifestSet
from selector.pipeline import Outcome
from selector.pipeline import select as run_stages
from selector.trees import GitTree, TreeError


@dataclass(frozen=True, slots=True)
class Wish:
    """What the options of a command say: the change, what to apply to it, and how it is cut."""

    repo: Path
    base: str | None
    head: str | None
    diff: str | None
    llm: bool = True
    manifests: Path | None = None
    no_manifests: bool = False
    budget_s: float | None = None
    full: bool = False
    holdout: float = 0.0
    function_map: Path | None = None

    @property
    def cut(self) -> Cut:
        return Cut(self.budget_s, self.holdout, selection_text.asked_for_full() if self.full else "")


@dataclass(frozen=True, slots=True)
class LocalSelection:
    """A selection with the change and the manifests that led to it."""

    change: LocalChange
    manifests: ManifestSet | None
    outcome: Outcome
    note: Callable[[str], None]

    def catalog(self) -> Catalog:
        """All tests of the changed tree, also where the selection needed none of them."""
        if self.outcome.catalog is not None:
            return self.outcome.catalog
        with GitTree(self.change.repo, self.change.head) as head:
            return build_catalog(head, user_catalog(self.note))


def run_selection(wish: Wish, out: Output) -> LocalSelection:
    """All stages that work without running a test. Raises `BadManifests`; `NoChange` when git objects are missing."""
    change = read_change(wish.repo, wish.base, wish.head, wish.diff)
    settings = load_settings()
    folder = None if wish.no_manifests else wish.manifests or settings.manifest_dir
    manifests = read_manifests(folder) if folder is not None else None

    def note(line: str) -> None:
        out.note(f"note: {one_line(line, 1_000)}")

    with ExitStack() as stack:
        model = stack.enter_context(configured_model(settings)) if wish.llm else None
        try:
            base = stack.enter_context(GitTree(change.repo, change.base))
            head = stack.enter_context(GitTree(change.repo, change.head))
            known = stack.enter_context(local_known(change, note, read_map(wish.function_map)))
            outcome = run_stages(
                *(change.diff, base, head),
                known=known,
                llm=model,
                manifests=manifests,
                cut=wish.cut,
                device=settings.device,
                budget=budget_of(settings),
                cache=user_catalog(note),
            )
        except TreeError as error:
            raise NoChange(str(error)) from error
    return LocalSelection(change, manifests, outcome, note)
