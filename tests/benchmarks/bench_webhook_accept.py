"""How soon a webhook is answered when 20 backends are to be told: `python -m tests.benchmarks.bench_webhook_accept`.

Ours against handlers that do the same work before they answer (`tests.benchmarks.webhook_sides`): one tells backends in
threads, as the original does, one tells them one after the other. In the same run, in turns, each a process of its own;
GitHub takes 200 ms for a call. Webhooks come as they come to a relay: at random, so many in a second, whether the ones
before are answered or not. Then as fast as a few clients can send them, for the requests in a second. Telling a backend
is two calls for everybody, a token and the dispatch, as the original does it; ours keeps tokens, but not here.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

import httpx

from relay.intake.signature import sign
from tests.benchmarks.webhook_sides import SECRET, SIDES
from tests.conformance.payloads import pull_request

_TURNS = 4
_WARM_UP = 5


@dataclass
class Side:
    """A relay that serves, and how long its answers took, in seconds."""

    name: str
    http: httpx.Client
    paced: list[float] = field(default_factory=list)
    flooded: list[float] = field(default_factory=list)
    flood_s: float = 0.0
    _numbers: Iterator[int] = field(default_factory=count)

    def send(self) -> float:
        """Deliver one webhook; how long its answer took."""
        number = next(self._numbers)
        body = json.dumps(pull_request(number=number + 1, sha=f"{number + 1:040x}")).encode()
        headers = {
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Delivery": f"{self.name}-{number}",
            "X-Hub-Signature-256": sign(SECRET, body),
        }
        begun = time.perf_counter()
        self.http.post("/github/webhook", content=body, headers=headers).raise_for_status()
        return time.perf_counter() - begun

    def pace(self, webhooks: int, rate: float, chance: Random) -> None:
        """Deliver at random moments, so many in a second."""
        due = time.perf_counter()
        with ThreadPoolExecutor(64) as pool:
            waiting = []
            for _ in range(webhooks):
                due += chance.expovariate(rate)
                time.sleep(max(0.0, due - time.perf_counter()))
                waiting.append(pool.submit(self.send))
            self.paced += [one.result() for one in waiting]

    def flood(self, webhooks: int, clients: int) -> None:
        """Deliver as fast as some clients can, each waiting for its answer."""
        begun = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            self.flooded += pool.map(lambda _: self.send(), range(webhooks))
        self.flood_s += time.perf_counter() - begun


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webhooks", type=int, default=200, help="of each side, at random moments")
    parser.add_argument("--rate", type=float, default=4.0, help="webhooks in a second; upstream has about one")
    parser.add_argument("--flood", type=int, default=80, help="webhooks of each side, by a few clients at once")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument(
        "--calls", type=int, default=2, help="calls for a dispatch: each mints a token, as the original does"
    )
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        sides = [stack.enter_context(_served(name, Path(folder) / name, wanted.calls)) for name in SIDES]
        for side in sides:
            side.pace(_WARM_UP, wanted.rate, _moments(0))
            side.paced.clear()
        for turn in range(_TURNS):
            for side in sides:
                side.pace(wanted.webhooks // _TURNS, wanted.rate, _moments(turn))
        for side in sides:
            # What takes seconds for each would take minutes for all, and show no more.
            side.flood(wanted.flood if side.name != SIDES[-1] else 2 * wanted.clients, wanted.clients)
        sys.stdout.write(report(sides, wanted.rate, wanted.clients))
    return 0


def _moments(turn: int) -> Random:
    """The same for both sides."""
    return Random(turn)  # noqa: S311  # when a webhook comes is no secret


def report(sides: Sequence[Side], rate: float, clients: int) -> str:
    """The figures of all sides, and how many times lower ours is than each other."""
    heads = f"{'':12}  {f'p50 at {rate:g}/s':>12}  {'p99':>9}  {f'{clients} clients':>12}  {'p99':>9}"
    lines = [heads, *(_line(side) for side in sides)]
    ours, *others = sides
    for other in others:
        times = percentile(other.paced, 99) / percentile(ours.paced, 99)
        lines.append(f"p99 at {rate:g}/s: {times:.1f} times lower than {other.name}")
    return "\n".join([*lines, ""])


def percentile(values: Sequence[float], share: int) -> float:
    """The value that `share` percent of all are not above: one that was measured, not one in between."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def _line(side: Side) -> str:
    paced, flooded = statistics.median(side.paced), len(side.flooded) / side.flood_s
    return (
        f"{side.name:12}  {1000 * paced:9.1f} ms  {1000 * percentile(side.paced, 99):6.1f} ms"
        f"  {flooded:10.1f}/s  {1000 * percentile(side.flooded, 99):6.1f} ms"
    )


@contextmanager
def _served(name: str, folder: Path, calls: int) -> Iterator[Side]:
    folder.mkdir()
    command = [sys.executable, "-m", "tests.benchmarks.webhook_sides", name, str(folder), str(calls)]
    pipe = subprocess.PIPE
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        with httpx.Client(base_url=url, timeout=60, trust_env=False, limits=httpx.Limits(max_connections=64)) as http:
            _wait_for(http)
            yield Side(name, http)
        process.stdin.close()


def _wait_for(http: httpx.Client) -> None:
    for _ in range(600):
        try:
            http.get("/")
            return
        except httpx.TransportError:
            threading.Event().wait(0.05)
    raise SystemExit("the relay did not start")


if __name__ == "__main__":
    sys.exit(main())
