"""What can fail, each by a name. A fault strikes once: it breaks something while work is under way, and mends it again
where nobody else would. What is killed comes back by its supervisor.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from tests.faults.balancer import Way
from tests.faults.evidence import Kill
from tests.faults.fleet import LEASE_S, REPLICAS, Fleet, Part
from tests.faults.machine import Machine
from tests.faults.slow_clients import slow_clients

#: A minute of a lease of 20 s; here as many leases.
AWAY_S = 3 * LEASE_S
_HUNT_S = 10.0
_AN_HOUR_S = 3600.0


@dataclass
class Strikes:
    """What was done, in words and at which second, and which processes lost what GitHub answered them. `away_s` is how
    long a worker's way to the relay is broken."""

    away_s: float = AWAY_S
    began: float = field(default_factory=time.monotonic)
    told: list[str] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)

    def tell(self, what: str) -> None:
        self.told.append(f"{time.monotonic() - self.began:5.1f} s: {what}")


Fault = Callable[[Fleet, Random, Strikes], None]


def web_killed(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """SIGKILL of a replica that answers."""
    _kill(random.choice(fleet.replicas), strikes)


def background_killed(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """SIGKILL of a process that delivers and sweeps."""
    part = random.choice(fleet.backgrounds)
    _kill(part, strikes)
    strikes.kills.append(Kill(part.name, datetime.now(UTC)))


def worker_killed(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """SIGKILL of a worker's main process."""
    _kill(random.choice(fleet.workers), strikes)


def pool_process_killed(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """SIGKILL of the process of a worker that does a shard."""
    for part in random.sample(fleet.workers, len(fleet.workers)):
        children = () if part.pid is None else tuple(_children(part.pid))
        if children:
            _end(random.choice(children), f"a pool process of {part.name}", strikes)
            return


def test_process_killed(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """SIGKILL of what imports and runs a test file, whichever worker has one just now."""
    deadline = time.monotonic() + _HUNT_S
    while time.monotonic() < deadline:
        for part in random.sample(fleet.workers, len(fleet.workers)):
            found = [] if part.pid is None else [pid for pid in _descendants(part.pid) if _runs_tests(pid)]
            if found:
                _end(random.choice(found), f"a test process of {part.name}", strikes)
                return
        time.sleep(0.02)
    strikes.tell("no test process was there to kill")


def redis_restarted(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """Redis ends with all that is in it, and comes back some seconds later."""
    strikes.tell("Redis ends")
    fleet.redis.stop()
    time.sleep(random.uniform(1.0, 4.0))
    fleet.redis.start()
    strikes.tell("Redis is back")


def redis_flushed(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """Everything in Redis is gone, and every connection to it is broken."""
    fleet.redis.say("FLUSHALL")
    fleet.redis.say("CLIENT KILL TYPE normal")
    strikes.tell("Redis is flushed")


def redis_silent(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """Redis keeps its connections and answers nothing, for two leases."""
    fleet.redis.pause(paused=True)
    strikes.tell("Redis is silent")
    time.sleep(2 * LEASE_S)
    fleet.redis.pause(paused=False)
    strikes.tell("Redis answers again")


def redis_lost(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """The connections of all workers to Redis carry nothing any more, and nobody is told; new ones would."""
    for way in fleet.redis_ways:
        way.lose_connections()
    strikes.tell("the workers' connections to Redis are lost without a word")


def postgres_restarted(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """PostgreSQL crashes and recovers."""
    strikes.tell("PostgreSQL crashes")
    fleet.postgres.crash()
    strikes.tell("PostgreSQL is back")


def disk_full(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """A worker's disk has no room, for two leases."""
    machine = random.choice(fleet.workers).machine
    machine.fill_disk(full=True)
    strikes.tell(f"the disk of {machine.name} is full")
    time.sleep(2 * LEASE_S)
    machine.fill_disk(full=False)
    strikes.tell(f"the disk of {machine.name} has room again")


def relay_refused(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """A worker's connections to the relay are broken and refused for three leases, or for as long as is said."""
    _away(fleet, random, strikes, Way.CUT)


def relay_silent(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """A worker's requests get no answer for three leases, or for as long as is said."""
    _away(fleet, random, strikes, Way.SILENT)


def service_clock_jumps(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """The wall clock of a replica and its background is an hour off for two leases, and then is right again."""
    _jump(random.choice(fleet.machines[:REPLICAS]), random, strikes)


def worker_clock_jumps(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """The same of a worker."""
    _jump(random.choice(fleet.machines[REPLICAS:]), random, strikes)


def slow_client(fleet: Fleet, random: Random, strikes: Strikes) -> None:
    """Clients that send headers byte by byte or a body without an end, and readers of events that read nothing."""
    strikes.tell("slow clients come")
    with slow_clients([replica.port for replica in fleet.replicas]):
        time.sleep(2 * LEASE_S)
    strikes.tell("slow clients go")


FAULTS: Mapping[str, Fault] = {
    "web killed": web_killed,
    "background killed": background_killed,
    "worker killed": worker_killed,
    "pool process killed": pool_process_killed,
    "test process killed": test_process_killed,
    "redis restarted": redis_restarted,
    "redis flushed": redis_flushed,
    "redis silent": redis_silent,
    "redis lost": redis_lost,
    "postgres restarted": postgres_restarted,
    "disk full": disk_full,
    "relay refused": relay_refused,
    "relay silent": relay_silent,
    "service clock jumps": service_clock_jumps,
    "worker clock jumps": worker_clock_jumps,
    "slow client": slow_client,
}


#: These are broken for a while; the others strike at once, and are mended at once or by a supervisor.
LASTING = frozenset(
    {
        "redis silent",
        "disk full",
        "relay refused",
        "relay silent",
        "service clock jumps",
        "worker clock jumps",
        "slow client",
    }
)


def _away(fleet: Fleet, random: Random, strikes: Strikes, way: Way) -> None:
    balancer = random.choice(fleet.balancers)
    balancer.set_way(way)
    strikes.tell(f"the way of a worker to the relay is {way}")
    time.sleep(strikes.away_s)
    balancer.set_way(Way.OPEN)
    strikes.tell("the way is open again")


def _jump(machine: Machine, random: Random, strikes: Strikes) -> None:
    ahead_s = random.choice((_AN_HOUR_S, -_AN_HOUR_S))
    machine.set_clock_ahead(ahead_s)
    strikes.tell(f"the clock of {machine.name} jumps by {ahead_s:+.0f} s")
    time.sleep(2 * LEASE_S)
    machine.set_clock_ahead(0)
    strikes.tell(f"the clock of {machine.name} is right again")


def _kill(part: Part, strikes: Strikes) -> None:
    pid = part.pid
    if pid is None:
        strikes.tell(f"{part.name} was away already")
    else:
        _end(pid, part.name, strikes)


def _end(pid: int, name: str, strikes: Strikes) -> None:
    with suppress(ProcessLookupError):  # it may have ended meanwhile
        os.kill(pid, signal.SIGKILL)
    strikes.tell(f"SIGKILL of {name}")


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (thread / "children").read_text().split())


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _runs_tests(pid: int) -> bool:
    with suppress(OSError):
        return b"workers.runner.child.warm" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False
