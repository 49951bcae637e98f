"""Finds entries whose excuse has run out: their `expires` lies before a day. The clock is the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from selector.manifests.document import Placed
from selector.manifests.findings import Finding, Severity
from selector.manifests.model_rules import MODELS
from selector.manifests.model_schema import ModelSpec
from selector.manifests.oddities import FILES
from selector.manifests.schema import Entry, Manifest

EXPIRED_ENTRY = "expired-entry"


def expired(placed: Placed, manifest: Manifest, today: date) -> Iterator[Finding]:
    """A warning at the `expires` of each entry that expired before today, with who and what to ask."""
    for index, block in enumerate(manifest.test_suite_config.files):
        for number, entry in enumerate(block.tests):
            if entry.expires is not None and entry.expires < today:
                place = placed.place((*FILES, index, "tests", number, "expires"))
                yield placed.finding(place, _sentence(entry, entry.expires), Severity.WARNING, EXPIRED_ENTRY)
    for index, model in enumerate(manifest.test_suite_config.models):
        if model.expires is not None and model.expires < today:
            place = placed.place((*MODELS, index, "expires"))
            yield placed.finding(place, _sentence(model, model.expires), Severity.WARNING, EXPIRED_ENTRY)


def _sentence(entry: Entry | ModelSpec, day: date) -> str:
    ask = f"; ask {entry.owner}" if entry.owner else ""
    see = f", see {entry.issue}" if entry.issue else ""
    return f"`{entry.mode}` of this entry expired on {day}: run its tests, then renew the day or remove it{ask}{see}"
