"""How a letter ends when GitHub refuses it."""

from __future__ import annotations

from relay.github.types import GitHubError
from relay.outbox.types import Postponed, Undeliverable


def ending_of(error: GitHubError) -> Postponed | Undeliverable:
    """Later, when the same request may succeed then; never, when GitHub refuses this very request."""
    if error.passing:
        return Postponed(error.message, error.status, error.retry_after_s)
    return Undeliverable(error.message, error.status)
