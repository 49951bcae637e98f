"""`relay doctor` says which workers are connected, and what differs between them."""

from __future__ import annotations

import pytest

from relay.cli.worker_checks import check_workers, judged
from relay.now_views import WorkerNow, WorkerState, WorkersView
from relay.runs.worker_differences import differences
from relay.settings import RelaySettings
from tests.conftest import OpenApp
from tests.relay.cli.conftest import Relay
from tests.relay.serving import serving
from tests.relay.stand_in import StandIn, a_worker, closed_port


def view(*workers: WorkerNow) -> WorkersView:
    return WorkersView(workers=workers, differences=differences(workers))


@pytest.mark.parametrize(
    ("workers", "status", "detail", "hint"),
    [
        ((), "warn", "no worker is connected", "relay worker"),
        ((a_worker("w1", WorkerState.LEFT),), "warn", "no worker is connected", "relay worker"),
        ((a_worker("w1", WorkerState.SILENT),), "warn", "1 worker: 1 silent", "may be gone"),
        (
            (a_worker("w1"), a_worker("w2", WorkerState.UNABLE, trouble="full")),
            "warn",
            "2 workers: 1 idle, 1 cannot work; w2 cannot work: full",
            "on the worker's machine",
        ),
        ((a_worker("w1"), a_worker("w2", WorkerState.WORKING)), "ok", "2 workers: 1 at work, 1 idle", ""),
        ((a_worker("w1"), a_worker("w2", WorkerState.SILENT, "2.12.1")), "ok", "2 workers: 1 idle, 1 silent", ""),
        (
            (a_worker("w1"), a_worker("w2", torch="2.12.1")),
            "warn",
            "2 workers: 2 idle; workers of spyre are not alike in torch: 2.12.1 (w2), 2.13.0 (w1)",
            "one environment",
        ),
        (
            (a_worker("w1", version="8"),),
            "warn",
            "1 worker: 1 idle; of another version than the service's 9.9.9: w1",
            "one environment",
        ),
        (
            (a_worker("w1", version="8"), a_worker("w2")),
            "warn",
            "2 workers: 2 idle; workers of spyre are not alike in relay version: 8 (w1), 9.9.9 (w2)",
            "one environment",
        ),
    ],
)
def test_none_none_alive_all_alike_and_not_alike(
    workers: tuple[WorkerNow, ...], status: str, detail: str, hint: str
) -> None:
    found = judged(view(*workers), "9.9.9")
    assert (found.status, found.detail) == (status, detail)
    assert hint in found.next_step
    assert bool(hint) == bool(found.next_step)


def test_names_of_workers_are_fit_for_a_terminal() -> None:
    found = judged(view(a_worker("w1"), a_worker("w2\x1b[2J", torch="\n2.12")), "9.9.9")
    assert "\x1b" not in found.detail
    assert "\n" not in found.detail


def test_a_service_that_wants_a_token_for_reading(
    settings: RelaySettings, open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is not one that was not reached."""
    monkeypatch.setenv("RELAY_STATE_DIR", "/nowhere")
    with serving(open_app(settings.model_copy(update={"read_access": "token"}))) as url:
        found = check_workers(url)
    assert found.status == "warn"
    assert "token" in found.detail + found.next_step


def test_a_service_that_is_away_and_one_too_old_to_tell(relay: Relay, service: StandIn) -> None:
    service.workers = None
    found = check_workers(service.url)
    assert (found.status, found.detail) == ("ok", "the service is of a version that does not tell")
    with closed_port() as url:
        found = check_workers(url)
    assert (found.status, found.detail, found.next_step) == ("warn", "the service was not reached", "")
