"""What must hold at the end of every story, whatever failed in it. Pure: evidence in, violations out, with their rows.

What is promised of dispatches is this. Each that was decided reaches GitHub. It reaches GitHub once, unless the process
that sent it died before it could write down GitHub's answer: then nobody can know whether it was taken, and it is sent
again. The second is the first once more, with the same delivery and the same proof (`crcr`), so that a receiver which
keeps what it has seen does the work once; our own backend does (`relay submit` is answered by delivery).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from relay.runs.states import FINAL_RUN_STATES, FINAL_SHARD_STATES
from relay.store.crcr_models import DispatchState, OutboxState
from relay.store.models import DeliveryState, ShardState
from relay.views import RunState
from tests.faults.evidence import Evidence, LetterRow, RunRow, SeenRow

#: What was under way when its sender was killed may be taken a moment later; and who sends it again had to wait for the
#: lease of the killed one to end, which was prolonged a third of its minute ago at most.
_UNDER_WAY, _LEASE_LEFT = timedelta(seconds=20), timedelta(seconds=30)

#: A row, or some, and what is wrong with them.
Violation = str


def deliveries_have_their_run(found: Evidence) -> Iterable[Violation]:
    """Every delivery that was answered 200 or 202 is in the inbox, and led to a run or to a reason why not; and none
    was refused for good."""
    rows, runs = {row.delivery_id: row for row in found.deliveries}, {run.id: run for run in found.runs}
    for delivery, said in found.refused.items():
        yield f"delivery {delivery} was never taken: {said}"
    for delivery in found.accepted:
        row = rows.get(delivery)
        if row is None:
            yield f"delivery {delivery} was accepted and is not in the inbox"
        elif row.state not in (DeliveryState.PROCESSED, DeliveryState.IGNORED):
            yield f"accepted, but not handled: {row}"
        elif row.run_id is None and not row.note:
            yield f"neither a run nor a reason: {row}"
        elif row.run_id is not None and row.run_id not in runs:
            yield f"its run is not there: {row}"
    owners = Counter(row.run_id for row in found.deliveries if row.run_id is not None)
    for run, count in owners.items():
        if count > 1:
            yield f"run {run} belongs to {count} deliveries"


def tests_have_one_outcome(found: Evidence) -> Iterable[Violation]:
    """Every planned test of every run has a verdict, and was taken in once."""
    for row in found.tests:
        if row.verdict is None:
            yield f"planned without an outcome: {row}"
        if row.first_tries > 1:
            yield f"more than one outcome: {row}"
    for (run, test), count in Counter((row.run_id, row.test_id) for row in found.tests).items():
        if count > 1:
            yield f"run {run} planned {test} {count} times"


def runs_end(found: Evidence) -> Iterable[Violation]:
    """No run is open, and no shard of a run is."""
    for run in found.runs:
        if run.state not in FINAL_RUN_STATES:
            open_shards = [shard for shard in found.shards if shard.run_id == run.id]
            yield f"still open: {run} with {open_shards}"
    for shard in found.shards:
        if shard.state not in FINAL_SHARD_STATES:
            yield f"still open: {shard}"


def shards_report_once(found: Evidence) -> Iterable[Violation]:
    """However often a shard was leased, its work was taken in once: it is done once, one selection is recorded for it,
    and not more results than it has tests."""
    tests = Counter(row.shard_id for row in found.tests if row.first_tries)
    for shard in found.shards:
        if shard.done != (shard.state == ShardState.DONE):
            yield f"done {shard.done} times: {shard}"
        if shard.selections > 1:
            yield f"{shard.selections} selections: {shard}"
        if shard.reported != tests[shard.id]:
            yield f"{shard.reported} results for {tests[shard.id]} tests with one: {shard}"


def dispatches_arrive(found: Evidence) -> Iterable[Violation]:
    """Every dispatch that was decided was taken by GitHub, and the record knows it."""
    seen = {(row.delivery_id, row.repo) for row in found.seen}
    for row in found.letters:
        if (row.delivery_id, row.repo) not in seen:
            yield f"GitHub never got it: {row}"
        elif (row.state, row.letter) != (DispatchState.DISPATCHED, OutboxState.SENT):
            yield f"GitHub has it, the record does not know: {row}"


def dispatches_arrive_once(found: Evidence) -> Iterable[Violation]:
    """No dispatch was sent that was not decided, and none twice but as this module's words allow."""
    decided = {(row.delivery_id, row.repo): row for row in found.letters}
    sent: dict[tuple[str, str], list[SeenRow]] = defaultdict(list)
    for row in found.seen:
        sent[row.delivery_id, row.repo].append(row)
    for what, rows in sent.items():
        if what not in decided:
            yield f"nobody decided it: {rows}"
        elif len(rows) > 1:
            yield from _repeats(decided[what], rows, found)


def _repeats(letter: LetterRow, rows: Sequence[SeenRow], found: Evidence) -> Iterable[Violation]:
    if len({row.mark for row in rows}) > 1:
        yield f"a repeat that cannot be told as one: {rows}"
    if letter.attempts < len(rows):
        yield f"sent {len(rows)} times in {letter.attempts} attempts: {letter}"
    for first, second in pairwise(rows):
        lost = (first.at <= kill.at + _UNDER_WAY and kill.at + _LEASE_LEFT <= second.at for kill in found.kills)
        if not any(lost):
            yield f"sent twice, and nobody was killed in between: {first} {second} {letter}"


def newest_heads_are_tested(found: Evidence) -> Iterable[Violation]:
    """The last head of every open pull request has a run that nobody called off, and no other head of it was taken up
    after that."""
    runs: dict[int | None, list[RunRow]] = defaultdict(list)
    for run in found.runs:
        runs[run.pull].append(run)
    for pull, head in found.newest.items():
        of_head = [run for run in runs[pull] if run.head == head]
        if all(run.state == RunState.CANCELLED for run in of_head):
            yield f"pull request {pull} is at {head[:10]}, which is not tested: {runs[pull]}"
        elif runs[pull][-1].head != head:
            yield f"pull request {pull} is at {head[:10]}, and another head was taken up after it: {runs[pull]}"


def service_is_well(found: Evidence) -> Iterable[Violation]:
    """Every replica says that it is ready, and every worker works."""
    for replica, ready in found.ready.items():
        if not ready:
            yield f"{replica} is not ready"
    for worker, works in found.workers.items():
        if not works:
            yield f"{worker} does not do a change that is left to it"


Invariant = Callable[[Evidence], Iterable[Violation]]
#: By the words of the table.
INVARIANTS: Mapping[str, Invariant] = {
    "delivery has run": deliveries_have_their_run,
    "one outcome": tests_have_one_outcome,
    "no run stuck": runs_end,
    "shard once": shards_report_once,
    "newest head": newest_heads_are_tested,
    "dispatch arrives": dispatches_arrive,
    "dispatch once": dispatches_arrive_once,
    "service well": service_is_well,
}


def violations(found: Evidence) -> dict[str, list[Violation]]:
    """All that is violated, by invariant: every invariant has its entry."""
    return {name: list(check(found)) for name, check in INVARIANTS.items()}
