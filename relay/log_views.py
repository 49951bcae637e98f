"""What readers get of a run's log. Texts come from upstream and are untrusted; times are seconds since a worker took
the shard.
"""

from __future__ import annotations

from relay.contract import LogKind
from relay.views import Page, View


class LogLineView(View):
    """A line. `place` says where it stands, for `after` and `before`; `number` counts from 1 within the attempt."""

    place: str
    shard: int
    attempt: int
    number: int
    at: float
    kind: LogKind
    text: str


class ShardLogView(View):
    """What there is of one attempt at a shard. `full`: it reached its cap, and its last line says so. `first_failure`
    is a place, empty where nothing failed."""

    shard: int
    attempt: int
    lines: int
    bytes: int
    failures: int
    full: bool
    first_failure: str


class LogPage(Page):
    """`GET /api/v1/runs/{id}/log`, oldest line first. `searched` of `total` lines were looked at for this page, from
    `first` to `last`, which are places; `earlier` and `later` say whether there are others on either side. `over`:
    nothing more will come."""

    lines: tuple[LogLineView, ...]
    logs: tuple[ShardLogView, ...]
    first: str
    last: str
    earlier: bool
    later: bool
    searched: int
    total: int
    over: bool
