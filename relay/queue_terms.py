"""What the settings say about the queue, as the queue wants to know it."""

from __future__ import annotations

from relay.runs.leases import LeaseTerms
from relay.runs.scheduling import Policy
from relay.settings import RelaySettings


def policy_of(settings: RelaySettings) -> Policy:
    """The order of the queue."""
    return Policy(
        ageing_s=settings.ageing_s,
        group_share=settings.group_share,
        background_share=settings.background_share,
        deep_s=settings.queue_deep_s,
    )


def terms_of(settings: RelaySettings) -> LeaseTerms:
    """How shards are leased."""
    return LeaseTerms(settings.lease_seconds, settings.max_attempts, policy_of(settings))
