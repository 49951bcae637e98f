"""What `relay upgrade` does with a relay: the report is published, and its tests are run on both releases.

The relay and its workers do it; here it is asked for and waited for. Interrupting stops the waiting, not the runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from relay.cli import upgrade_text
from relay.cli.output import Output, one_line
from relay.cli.upgrading import MadeReport
from relay.client import ApiClient
from relay.following import follow
from relay.upgrade.reading import outcome_difference
from relay.upgrade.views import ExecutionAsked, ExecutionView, Published, UpgradeSummary
from relay.upgrade.writing import report_json

_UPGRADES = "/api/v1/upgrades"
#: Reading a report about two releases takes the relay some seconds.
_READ_WITHIN_S = 120.0
#: The relay compares some seconds after the runs have ended; of a hundred thousand results in a minute.
_COMPARED_WITHIN_S = 180.0
_ASK_EVERY_S = 1.0


def publish(client: ApiClient, out: Output, made: MadeReport) -> UpgradeSummary:
    """Keep the report on the relay. Raises `Failure`."""
    text = report_json(made.report)
    published = client.ask(Published, "POST", _UPGRADES, content=text, timeout_s=_READ_WITHIN_S)
    out.note(upgrade_text.published(published.upgrade.url, published.repeated))
    return published.upgrade


def run_on_both(
    client: ApiClient,
    out: Output,
    made: MadeReport,
    upgrade: UpgradeSummary,
    sleep: Callable[[float], None] = time.sleep,
) -> MadeReport:
    """Have the tests of a published report run, wait for both runs, and take what differs into the report. Raises
    `Failure`."""
    base_release, head_release = made.releases
    asked = ExecutionAsked(base_release=base_release, head_release=head_release)
    path = f"{_UPGRADES}/{upgrade.id}/execution"
    opened = client.ask(ExecutionView, "POST", path, body=asked)
    try:
        for name, run in ((upgrade.base, opened.base), (upgrade.head, opened.head)):
            out.note(upgrade_text.running(run.id, one_line(name), run.url))
            for event in follow(client, run.id, sleep=sleep):
                out.note(f"{event.at.isoformat()}  {one_line(event.text, 1_000)}")
        ended = _compared(client, path, sleep)
    except KeyboardInterrupt:
        out.note(upgrade_text.stopped_waiting(upgrade.url))
        raise
    if ended.outcomes is None:
        out.note(upgrade_text.not_compared(upgrade.url))
        return made
    return replace(made, report=replace(made.report, outcomes=outcome_difference(ended.outcomes)))


def _compared(client: ApiClient, path: str, sleep: Callable[[float], None]) -> ExecutionView:
    """What came of it, without outcomes where the relay does not compare in time."""
    deadline = time.monotonic() + _COMPARED_WITHIN_S
    while True:
        found = client.ask(ExecutionView, "GET", path)
        if found.outcomes is not None or time.monotonic() >= deadline:
            return found
        sleep(_ASK_EVERY_S)
