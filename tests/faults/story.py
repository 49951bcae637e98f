"""One story: a fleet, changes that arrive, faults that strike meanwhile, and what is left when all is over."""

from __future__ import annotations

import resource
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from relay.runs.states import FINAL_RUN_STATES
from relay.views import RunState, Verdict
from tests.faults.evidence import Evidence, gather
from tests.faults.faults import AWAY_S, FAULTS, LASTING, Strikes
from tests.faults.fleet import SECRET, WORKERS, Fleet, fleet
from tests.faults.invariants import violations
from tests.faults.lots import lots
from tests.faults.rest import wait_for_rest, who_works
from tests.faults.traffic import Sender, schedule

#: A letter of a killed process is another's after a minute, and a sweep wakes workers once a minute at least.
SETTLES_S = 120.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a story is made of: which faults at which second, `changes` over `seconds`, all by `seed`; and for how long
    the relay is out of a worker's reach, when that is a fault of it."""

    name: str
    strikes: tuple[tuple[float, str], ...]
    changes: int
    seconds: float
    seed: int
    away_s: float = AWAY_S


@dataclass(frozen=True, slots=True)
class Told:
    """How a story ended."""

    plan: Plan
    violations: Mapping[str, Sequence[str]]
    strikes: Sequence[str]
    figures: Mapping[str, int]
    seconds: float
    processor_s: float
    folder: Path | None

    @property
    def holds(self) -> bool:
        """Whether everything that must hold does."""
        return not any(self.violations.values())


def alone(fault: str, changes: int, seconds: float, seed: int) -> Plan:
    """One fault, at moments between the first changes and the last: twice, or once where it lasts."""
    random = lots(seed, fault)
    span = (0.1, 0.3) if fault in LASTING else (0.15, 0.85)
    moments = sorted(random.uniform(*span) * seconds for _ in range(1 if fault in LASTING else 2))
    return Plan(fault, tuple((moment, fault) for moment in moments), changes, seconds, seed)


def mixed(changes: int, seconds: float, seed: int) -> Plan:
    """Every fault once, in any order."""
    random = lots(seed, "mix")
    order = random.sample(sorted(FAULTS), len(FAULTS))
    step = 0.85 * seconds / len(order)
    strikes = tuple((0.1 * seconds + (number + random.random()) * step, fault) for number, fault in enumerate(order))
    return Plan("mix", strikes, changes, seconds, seed)


def tell(plan: Plan) -> Told:
    """Let it happen. The folder with the logs is kept when something is violated."""
    random = lots(plan.seed, plan.name)
    folder = Path(tempfile.mkdtemp(prefix="relay-faults-"))
    began, processor_s = time.monotonic(), _processor_seconds()
    with fleet(folder, plan.changes + WORKERS, random) as running:
        commits, last = running.upstream.commits[: plan.changes], running.upstream.commits[plan.changes :]
        webhooks = schedule(commits, plan.seconds, random)
        strikes = Strikes(plan.away_s)
        with Sender([replica.port for replica in running.replicas], SECRET.get_secret_value(), plan.seed) as sender:
            sending = threading.Thread(target=sender.send_all, args=(webhooks, running.upstream.show))
            sending.start()
            _strike(plan, running, strikes)
            sending.join()
            wait_for_rest(running, SETTLES_S)
            working = who_works(running, sender, last)
            found = gather(running, sender.sent, strikes.kills, working)
    broken = violations(found)
    if not any(broken.values()):
        shutil.rmtree(folder, ignore_errors=True)
    kept = folder if folder.exists() else None
    took = time.monotonic() - began, _processor_seconds() - processor_s
    return Told(plan, broken, strikes.told, _figures(found), *took, kept)


def _processor_seconds() -> float:
    """Of this process and of those that it has outlived."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _strike(plan: Plan, running: Fleet, strikes: Strikes) -> None:
    """Each fault at its moment, in a thread: one that lasts is not over when the next one strikes, but for the same one
    again, which would mend what it broke. A fault that could not strike is an error, for nothing was shown then."""
    struck: list[tuple[str, Future[None]]] = []
    with ThreadPoolExecutor(len(plan.strikes)) as hands:
        for number, (moment, fault) in enumerate(plan.strikes):
            time.sleep(max(0.0, strikes.began + moment - time.monotonic()))
            wait([strike for name, strike in struck if name == fault])
            random = lots(plan.seed, f"{plan.name}/{number}")
            struck.append((fault, hands.submit(FAULTS[fault], running, random, strikes)))
    for _, strike in struck:
        strike.result()


def _figures(found: Evidence) -> dict[str, int]:
    """What a reader wants to know beside whether it holds."""
    states = Counter(run.state for run in found.runs)
    finished = {run.id for run in found.runs if run.state == RunState.FINISHED}
    sent = Counter((row.delivery_id, row.repo) for row in found.seen)
    return {
        "deliveries": len(found.deliveries),
        "runs": len(found.runs),
        **{str(state): states[state] for state in sorted(FINAL_RUN_STATES)},
        "tests": len(found.tests),
        "infra": sum(row.verdict == Verdict.INFRA and row.run_id in finished for row in found.tests),
        "dispatches": len(found.seen),
        "repeated": sum(count - 1 for count in sent.values()),
        "leases": sum(shard.attempt for shard in found.shards),
        "shards": len(found.shards),
    }
