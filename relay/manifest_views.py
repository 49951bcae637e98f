"""What readers get about the manifests (`GET /api/v1/manifests`): what is loaded, what is odd in it, what runs out, and
what its own results contradict.

Places are `manifest.yaml:line`. Texts of manifests and names of tests are untrusted.
"""

from __future__ import annotations

from datetime import date, datetime

from relay.views import View


class ManifestBlock(View):
    """What a manifest says about one test file, or about a whole model (`model`), whose comparisons are its names.
    `upstream` is False for a model, and for a file of the device's own repository, which is accepted and of no use
    here; `unlisted` is the mode of tests that no entry names; `modes` counts entries."""

    place: str
    file: str
    upstream: bool
    model: bool
    unlisted: str
    entries: int
    names: int
    modes: dict[str, int]


class ManifestFinding(View):
    """A finding of `relay manifest check` in a file of the folder. `how` says what to do about it, empty where no rule
    found it."""

    file: str
    line: int
    column: int
    severity: str
    rule: str
    message: str
    how: str


class ExpiringEntry(View):
    """An entry that excuses its tests until a day. `days_left` is negative when that day has passed."""

    place: str
    mode: str
    names: tuple[str, ...]
    expires: date
    days_left: int
    reason: str
    issue: str
    owner: str


class PromotionProposal(View):
    """An excused base test that has passed for long enough to be required (`relay manifest promote`), with what the
    weakest of its variants has to show."""

    place: str
    file: str
    base: str
    variants: int
    runs: int
    days: int
    machines: tuple[str, ...]
    first: datetime
    last: datetime


class WaitingPromotion(View):
    """An excused base test that passes now and is not proposed yet, and what it lacks."""

    place: str
    file: str
    base: str
    why: str


class Promotions(View):
    """What the newest runs say about excused tests. `from_runs` are the runs it rests on, newest first."""

    proposals: tuple[PromotionProposal, ...]
    waiting: tuple[WaitingPromotion, ...]
    from_runs: tuple[int, ...]


class ManifestsView(View):
    """The manifests in use on a device by their digest, and the state of the folder. `problem` says why the two differ,
    empty when they do not."""

    device: str
    digest: str
    problem: str
    manifests: tuple[str, ...]
    blocks: tuple[ManifestBlock, ...]
    findings: tuple[ManifestFinding, ...]
    expiring: tuple[ExpiringEntry, ...]
    promotions: Promotions
