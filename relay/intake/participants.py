"""Which of the served devices an upstream change is tested on.

A backend that stands in the CRCR allowlist takes part in what its entry says; one that does not, or has no entry to
go by now, in everything.
"""

from __future__ import annotations

from relay.allowlist.types import Allowlist, AllowlistUnavailableError, Participation
from relay.context import RelayContext
from relay.served import ServedBackend


def devices_for_changes(context: RelayContext) -> tuple[str, ...]:
    """Those that pull requests and pushes are tested on, the usual one first."""
    if not any(backend.allowlist for backend in context.backends):
        return context.devices
    known = _allowlist(context)
    return tuple(backend.device for backend in context.backends if _takes_part(backend, known))


def _takes_part(backend: ServedBackend, known: Allowlist) -> bool:
    entry = known.find(backend.allowlist)
    return entry is None or entry.takes_part_in(Participation.PULL_REQUEST)


def _allowlist(context: RelayContext) -> Allowlist:
    try:
        return context.crcr.allowlist.current().allowlist if context.crcr is not None else Allowlist()
    except AllowlistUnavailableError:
        return Allowlist()
