"""The body of a wake-up: lease due shards one after the other until none is due, and do each.

Owns a shard's end: what is told to the relay when it is done, stopped or broken. A shard's failure never ends the
loop; a lost lease or a cancelled run ends the shard at the next test boundary and says nothing more about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from structlog.contextvars import bound_contextvars

from relay.contract import (
    MESSAGE_CAP,
    Lease,
    LeaseRequest,
    Observation,
    ShardKind,
    ShardOutcome,
    TestResult,
    TriageSettings,
)
from relay.trail.redaction import Redactor
from relay.trail.tracing import span, usable_traceparent
from selector.catalog import CatalogFile
from selector.history import read_history
from selector.known import History, Known
from selector.manifests import Profile
from selector.triage import LlmClient
from workers.builds.build_process import BuildStoppedError
from workers.device_runner import DeviceRunner
from workers.environments.environment import Environment
from workers.heartbeat import LeaseKeeper, StopReason
from workers.models.references import References
from workers.relay_client import LeaseLostError, RelayClient, RelayError
from workers.runner.types import Installation
from workers.shards.base_identity import base_identity, environment_digest
from workers.shards.base_results import CachedBase, ObservationStore
from workers.shards.discreet_runner import DiscreetRunner
from workers.shards.function_map import usable_map
from workers.shards.model_runner import ModelRunner, checks_of
from workers.shards.observed_operators import RecordedTests
from workers.shards.past import RecordedOutcomes, RecordedSeconds
from workers.shards.report import capped
from workers.shards.results import ResultPoster
from workers.shards.select_shard import SelectRun
from workers.shards.shard_log import ShardLog
from workers.shards.test_shard import ShardRun
from workers.shards.tested_trees import TestedTrees
from workers.upstream.checkout import Checkout, checked_out
from workers.workbench import Bench
from workers.workspace import NoRoomError, Workspace

log = structlog.get_logger(__name__)


class BrokenLeaseError(Exception):
    """The relay leased a shard without its order."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A shard in hand."""

    lease: Lease
    keeper: LeaseKeeper
    log: ShardLog

    def say(self, progress: str) -> None:
        """What is done now: for the page with the next heartbeat, and in the log."""
        self.keeper.say(progress)
        self.log.step(progress)


@dataclass(frozen=True, slots=True)
class Session:
    """One worker process awake. `bench` is what it tests with, `make_llm` gets the relay's triage settings;
    `shutting_down` is asked between tests, `redact` takes secrets out of what tests say."""

    client: RelayClient
    workspace: Workspace
    identity: LeaseRequest
    bench: Bench
    make_llm: Callable[[TriageSettings], LlmClient]
    shutting_down: Callable[[], bool]
    manifest_profile: Profile = Profile.COMPAT
    function_map: Path | None = None
    redact: Callable[[str], str] = field(default_factory=Redactor)

    def run(self) -> int:
        """Work until nothing is due; returns how many shards were taken. What keeps it from work is logged: a relay
        that cannot be used, a disk that takes nothing. The relay's sweep wakes us again."""
        taken = 0
        try:
            self.workspace.check_room()
            removed = self.workspace.remove_leftovers()
            if removed:
                log.info("removed what dead workers left", folders=list(removed))
            while not self.shutting_down():
                self.workspace.check_room()  # a shard more would be a shard that fails
                lease = self.client.lease(self.identity)
                if lease is None:
                    break
                taken += 1
                about = {
                    "run": lease.run_id,
                    "shard": lease.shard_id,
                    "kind": lease.kind.value,
                    "attempt": lease.attempt,
                }
                parent = usable_traceparent(lease.traceparent)
                with span(f"shard {lease.kind}", parent, **about), bound_contextvars(**about):
                    self._take(lease)
        except (RelayError, NoRoomError) as error:
            log.warning("no shard can be leased", error=str(error))
        return taken

    def _take(self, lease: Lease) -> None:
        log.info("shard leased")
        with (
            LeaseKeeper(self.client, lease, self.shutting_down) as keeper,
            ShardLog(self.client, lease, self.redact, unwanted=keeper.unwanted) as told,
        ):
            held = _Held(lease, keeper, told)
            try:
                self._work(held)
            except LeaseLostError:
                keeper.lost()
            except Exception as error:  # whatever a shard ran into, the loop and the other shards go on
                log.exception("shard failed")
                self._fail(held, error)
        log.info("shard ended", stopped=str(keeper.stop_reason or ""))

    def _end(self, held: _Held, *, complete: bool) -> None:
        """Say how the shard ended, unless nobody asks any more. From then on the lease is not kept."""
        reason = held.keeper.stop_reason
        if complete and reason in {None, StopReason.SHUTDOWN}:
            self._finish(held, ShardOutcome.DONE, "")
        elif reason is StopReason.SHUTDOWN:
            self._finish(held, ShardOutcome.STOPPED, "The worker was stopped before the shard was done.")
        elif reason is not None:
            held.log.step(f"stopped: {reason}")
        held.keeper.end()

    def _fail(self, held: _Held, error: Exception) -> None:
        """What fails for want of room is this machine's fault, not the shard's: it goes back without being counted."""
        try:
            self.workspace.check_room()
        except NoRoomError as want:
            self._finish(held, ShardOutcome.STOPPED, str(want))
        else:
            self._finish(held, ShardOutcome.FAILED, _sentence(error))

    def _finish(self, held: _Held, outcome: ShardOutcome, error: str) -> None:
        error = self.redact(error)
        if error:
            held.log.failed(error)
        # The page is read for the last time when the run ends.
        held.log.flush()
        try:
            self.client.finish(held.lease, outcome, capped(error, MESSAGE_CAP))
        except RelayError as refusal:
            # The lease ends by itself, and the relay gives the shard out again.
            log.warning("the end of a shard could not be reported", error=str(refusal))

    def _work(self, held: _Held) -> None:
        lease = held.lease
        held.say("fetching the change")
        kept = self.workspace.trees if self.bench.confined else None
        with (
            self.workspace.shard_folder(lease.shard_id) as folder,
            checked_out(self.workspace.mirrors, lease.change, folder, kept) as checkout,
        ):
            do = self._select if lease.kind is ShardKind.SELECT else self._test
            try:
                complete = do(held, checkout)
            except BuildStoppedError:
                complete = False
            # Said before the trees are removed, which takes seconds on a large tree.
            self._end(held, complete=complete)

    def _select(self, held: _Held, checkout: Checkout) -> bool:
        """Returns whether there is a report, which ends the shard by itself."""
        lease = held.lease
        order = lease.select
        if order is None:
            raise BrokenLeaseError(
                "The relay leased a select shard without its order; relay and worker differ in version."
            )
        choice = self.bench.choose(checkout, order.release)
        with (
            self._ready(checkout, choice.environment, held) as (trees, runner, _),
            self._history(checkout) as history,
        ):
            run = SelectRun(
                trees=trees,
                runner=runner,
                choice=choice,
                tested_on=self.bench.tested_on(choice.environment),
                device=self.identity.device,
                llm=self.make_llm(order.triage) if order.triage else None,
                should_stop=held.keeper.stop_requested,
                say=held.say,
                log=held.log,
                profile=self.manifest_profile,
                known=Known(
                    history=history,
                    executed=usable_map(self.function_map),
                    observed=RecordedTests(self.client, self.identity.device),
                    outcomes=RecordedOutcomes(self.client, self.identity.device, lease.change),
                    durations=RecordedSeconds(self.client, self.identity.device),
                ),
                catalog=self._catalog(),
            )
            report = run.report(order)
        if report is None:
            return False
        self.workspace.check_room()  # else what could not be collected may be for want of it
        held.log.flush()
        self.client.post_selection(lease, report)
        return True

    def _history(self, checkout: Checkout) -> AbstractContextManager[History | None]:
        """What changed together before the change, from commits that are read once for this machine; anew for each
        shard where a test could write down other commits."""
        file = self.workspace.history if self.bench.confined else checkout.folder / "history"
        return read_history(
            file, checkout.repository, checkout.base_sha, lambda note: log.warning("history not used", note=note)
        )

    def _catalog(self) -> CatalogFile | None:
        """What this machine has read of upstream's tests, unless a test could write there which tests there are."""
        if not self.bench.confined:
            return None
        return CatalogFile(self.workspace.catalog, lambda note: log.warning("catalog not used", note=note))

    def _test(self, held: _Held, checkout: Checkout) -> bool:
        """Returns whether every test has its result."""
        told = held.lease.tested_on
        environment = self.bench.planned(told) if told else self.bench.choose(checkout).environment
        with (
            self._ready(checkout, environment, held) as (trees, runner, installation),
            ResultPoster(self.client, held.lease) as poster,
        ):

            def should_stop() -> bool:
                return poster.failed or held.keeper.stop_requested()

            def add(result: TestResult) -> None:
                if any(attempt.observation is not Observation.PASSED for attempt in result.attempts):
                    self.workspace.check_room()  # a test may have failed for want of it
                poster.add(result)

            identity = self._base(trees, environment, installation)
            known = CachedBase(ObservationStore(self.workspace.folder / "base-results.sqlite"), identity)
            models = checks_of(held.lease.models)
            either = ModelRunner(runner, models, References(self._references(), identity), trees.base)
            shard = ShardRun(either, trees.head(), trees.base, add, should_stop, held.say, known, log=held.log)
            return shard.run(held.lease.tests)

    @contextmanager
    def _ready(
        self, checkout: Checkout, environment: Environment, held: _Held
    ) -> Iterator[tuple[TestedTrees, DeviceRunner, Installation]]:
        """The trees of a change and a runner for them, in one environment."""
        scratch = checkout.folder / "scratch"
        scratch.mkdir()
        installation = self.bench.install(environment)
        builds = self.bench.builds
        stop = held.keeper.stop_requested
        asked = builds.for_shard(checkout.mirror, environment, stop, held.say) if builds else None
        with (
            TestedTrees(checkout, environment.wheel, asked) as trees,
            self.bench.make_runner(scratch, installation) as runner,
        ):
            yield trees, DiscreetRunner(runner, self.redact), installation

    def _base(self, trees: TestedTrees, environment: Environment, installation: Installation) -> str:
        """The digest of this base here, with all that results on it depend on."""
        where = environment_digest(installation, environment.wheel, self.bench.confinement)
        git, base_sha = trees.checkout.mirror.git, trees.checkout.base_sha
        return base_identity(git, base_sha, trees.overlay.base, f"{where} {trees.base_build}")

    def _references(self) -> Path | None:
        """Where the CPU's answers for models are kept, unless a test could write there what is right."""
        return self.workspace.folder / "model-references" if self.bench.confined else None


def _sentence(error: BaseException) -> str:
    """One line about a failure, for the run's page."""
    words = " ".join(str(error).split())
    return words if _is_ours(error) and words else f"{type(error).__name__}: {words}".rstrip(": ")


def _is_ours(error: BaseException) -> bool:
    """Our own errors are written as sentences for people; others need their type's name to be understood."""
    return type(error).__module__.partition(".")[0] in {"workers", "selector"}
