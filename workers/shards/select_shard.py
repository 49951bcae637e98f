"""A run's first shard: from a checked-out change to the plan, as one report.

Owns the order of the steps and the answers "not tested" and "rerun requested". Stages 1 to 3 and the manifests are
the selector's; what is collected is the framework's.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from relay.contract import NotTested, SelectionReport, SelectOrder, TestedOn
from relay.trail.tracing import span
from selector.catalog import CatalogCache
from selector.cut import WHOLE, Cut
from selector.known import NOTHING, Known
from selector.manifests import ManifestDocument, ManifestSet, Profile, load_manifests, plan
from selector.pipeline import Outcome, select
from selector.trees import GitTree, git_diff
from selector.triage import Budget, LlmClient
from selector.types import BaseTest, Candidate, Reason, Selection, SelectionState, Stage
from workers.builds.build_process import BuildStoppedError
from workers.device_runner import DeviceRunner
from workers.environments.choice import Choice
from workers.shards.collecting import Collected, Collector
from workers.shards.packing import Durations, ShardRoom
from workers.shards.refusals import Refusals, none_generated, other_release
from workers.shards.report import Plan, selection_report
from workers.shards.shard_log import NoLog, OutcomeLog
from workers.shards.tested_trees import TestedTrees
from workers.upstream.checkout import Checkout


@dataclass(frozen=True, slots=True)
class SelectRun:
    """The selecting of one change for one device. `choice` is the environment that `runner` and `trees` use, which the
    record knows as `tested_on`. `catalog` is what this machine has read of upstream's tests before."""

    trees: TestedTrees
    runner: DeviceRunner
    choice: Choice
    tested_on: TestedOn
    device: str
    llm: LlmClient | None
    should_stop: Callable[[], bool]
    say: Callable[[str], None]
    log: OutcomeLog = field(default_factory=NoLog)
    profile: Profile = Profile.COMPAT
    known: Known = NOTHING
    catalog: CatalogCache | None = None

    @property
    def checkout(self) -> Checkout:
        return self.trees.checkout

    def report(self, order: SelectOrder) -> SelectionReport | None:
        """The report; None when a stop was asked for before it was complete.

        Raises `GitError`, `TreeError`, `ManifestError`, and `EnvironmentProblemError` for a torch that cannot be
        imported whatever the change.
        """
        self.say("selecting tests")
        manifests = load_manifests([ManifestDocument(text.name, text.text) for text in order.manifests])
        outcome = self._outcome(order, manifests)
        wanted = bool(order.only or outcome.selection.kept)
        try:
            refusal = self._refusal(order, import_too=wanted)
        except BuildStoppedError:
            return None
        if refusal is not None:
            return self._message(outcome, Plan(notes=self.choice.notes), order, refusal)
        collected = self._collect(outcome, manifests, order) if wanted else Collected((), ())
        if collected.stopped:
            return None
        made = self._plan(collected, manifests, order)
        empty = none_generated(order.release, collected.notes) if order.release and not made.planned else None
        return self._message(outcome, made, order, empty)

    def _refusal(self, order: SelectOrder, *, import_too: bool) -> NotTested | None:
        """Why nothing of this can be run here. Raises as `Refusals.find`."""
        environment = self.choice.environment
        if refusal := other_release(order.release, environment):
            return refusal
        return Refusals(self.trees, self.runner, environment).find(import_too=import_too)

    def _outcome(self, order: SelectOrder, manifests: ManifestSet) -> Outcome:
        checkout, change = self.checkout, self.checkout.change
        llm = None if order.only else self.llm  # the tests of a rerun are chosen already
        budget = Budget(**order.triage.budget.model_dump()) if order.triage else None
        diff = git_diff(checkout.repository, checkout.base_sha, change.head_sha)
        with (
            GitTree(checkout.repository, checkout.base_sha) as base,
            GitTree(checkout.repository, change.head_sha) as head,
        ):
            return select(
                *(diff, base, head),
                title=change.title,
                body=change.body,
                llm=llm,
                manifests=manifests,
                known=self.known,
                cut=_cut(order),
                device=self.device,
                budget=budget,
                cache=self.catalog,
                watch=lambda stage: span(f"stage {stage}"),
            )

    def _collect(self, outcome: Outcome, manifests: ManifestSet, order: SelectOrder) -> Collected:
        head, base = self.trees.head(), self.trees.base
        collector = Collector(self.runner, head, base, self.should_stop, self.say, self.log, manifests.models)
        return collector.only(order.only) if order.only else collector.kept(outcome.selection.kept, _described(outcome))

    def _message(self, outcome: Outcome, made: Plan, order: SelectOrder, refusal: NotTested | None) -> SelectionReport:
        selection = outcome.selection
        if order.only:
            selection = _as_asked(selection, {planned.test.base_test: None for planned in made.planned}, order.release)
        if order.manifest_problem:
            selection = replace(selection, notes=(f"Manifests: {order.manifest_problem}", *selection.notes))
        if order.budget_note:
            selection = replace(selection, notes=(order.budget_note, *selection.notes))
        return selection_report(
            outcome.change,
            selection,
            made,
            room=ShardRoom(order.shard_size, order.shard_seconds),
            base_sha=self.checkout.base_sha,
            not_tested=refusal,
            tested_on=self.tested_on,
            durations=self._durations(made),
        )

    def _durations(self, made: Plan) -> Durations:
        """How long what is planned took before. The selection asked about base tests, and of a rerun about nothing."""
        files = {planned.test.file for planned in made.planned}
        return self.known.durations.seconds(files) if self.known.durations and files else {}

    def _plan(self, collected: Collected, manifests: ManifestSet, order: SelectOrder) -> Plan:
        """The manifests judge all variants of a base test together; a rerun's choice of ids comes after that. What an
        entry says about platforms is held against this machine, which is of the kind that runs the tests."""
        machine = platform.machine()
        planned = plan(collected.tests, manifests, self.device, profile=self.profile, platform=machine)
        if order.only:
            asked = set(order.only)
            planned = tuple(test for test in planned if test.test.id in asked or str(test.test.base_test) in asked)
        return Plan(planned, (*self.choice.notes, *self.trees.overlay.notes, *collected.notes))


def _cut(order: SelectOrder) -> Cut:
    """How the plan is cut. A rerun's tests are chosen already: nothing is left out, so nothing is drawn."""
    return WHOLE if order.only else Cut(order.budget_s, order.holdout, order.full)


def _described(outcome: Outcome) -> frozenset[BaseTest]:
    return frozenset(entry.test for entry in outcome.catalog) if outcome.catalog is not None else frozenset()


def _as_asked(selection: Selection, wanted: dict[BaseTest, None], release: str) -> Selection:
    """The selection with the asked-for base tests kept for that reason, whatever the stages said, and no others.
    `release` is there where they are asked for to be compared with another one."""
    reason = Reason(Stage.MANIFESTS, "rerun requested", "did not pass in the earlier run of this change")
    notes = (*selection.notes, "This run repeats single tests of an earlier run; the stages did not choose them.")
    if release:
        reason = Reason(Stage.MANIFESTS, "upgrade", f"runs on {release} to be compared with another release")
        notes = ("This run is of the tests that an upgrade report names; there is no change to choose them by.",)
    known = {candidate.test: candidate for candidate in (*selection.kept, *selection.dropped)}
    kept = tuple(known.get(test, Candidate(test)).because(reason) for test in wanted)
    return replace(
        selection,
        state=SelectionState.SELECTED if kept else selection.state,
        kept=kept,
        dropped=tuple(candidate for candidate in selection.dropped if candidate.test not in wanted),
        cost=None,  # it was that of the plan this run does not follow
        notes=notes,
    )
