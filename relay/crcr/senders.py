"""Who sends what is in the outbox. Without an App of ours nobody does for what GitHub must hear: those rows wait."""

from __future__ import annotations

from collections.abc import Mapping

from relay.context import RelayContext
from relay.crcr import dispatching
from relay.crcr.check_runs import CheckRunSender
from relay.crcr.hud_forward import HudSender, is_on
from relay.crcr.reruns import RerunSender
from relay.crcr.supersede import CancelSender
from relay.outbox.types import Sender
from relay.store.crcr_models import OutboxKind


def build(context: RelayContext) -> Mapping[OutboxKind, Sender]:
    """The senders of this process, by what they send."""
    senders: dict[OutboxKind, Sender] = dict(dispatching.senders(context))
    if is_on(context.settings):
        senders[OutboxKind.HUD] = HudSender(context.settings)
    github = context.crcr.github if context.crcr is not None else None
    if github is not None:
        senders[OutboxKind.CHECK_RUN] = CheckRunSender(github, context.store)
        senders[OutboxKind.RERUN] = RerunSender(github)
        senders[OutboxKind.CANCEL] = CancelSender(github)
    return senders
