"""What a backend is sent: the envelope around upstream's webhook (crcr-protocol 1.3), built when it is sent.

The payload is read, parsed and cut once for all backends of a delivery; what differs between them is the proof.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.crcr import nonce
from relay.crcr.trimming import Trimmed, trim
from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch
from relay.store.models import Delivery

#: Deliveries whose payloads are kept at hand: as many as come while one is being sent, not more, for each is large.
_AT_HAND = 16


class PayloadGoneError(Exception):
    """The delivery is not in the record any more."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """`client_payload` of a repository_dispatch. `trim` tells what was cut from the payload."""

    event_type: str
    client_payload: Mapping[str, Any] = field(repr=False)
    trim: Mapping[str, Any] | None = None


class Envelopes:
    """Builds envelopes; used by several threads."""

    def __init__(self, settings: RelaySettings) -> None:
        self._settings = settings
        self._payloads: OrderedDict[str, Trimmed] = OrderedDict()
        self._lock = threading.Lock()

    def build(self, session: Session, dispatch: Dispatch) -> Envelope:
        """The envelope of a dispatch, the same each time.

        Raises:
            PayloadTooLargeError: it cannot be cut to what GitHub passes on.
            PayloadGoneError: there is nothing to send.
        """
        trimmed = self._payload(session, dispatch.delivery_id)
        told: dict[str, Any] = {
            "event_type": dispatch.event_type,
            "delivery_id": dispatch.delivery_id,
            "payload": trimmed.payload,
        }
        if dispatch.nonce:
            told[nonce.KEY] = nonce.envelope_key(self._settings, dispatch)
        if trimmed.note is not None:
            told["trim"] = trimmed.note
        return Envelope(dispatch.event_type, told, trimmed.note)

    def _payload(self, session: Session, delivery_id: str) -> Trimmed:
        # Held while the payload is parsed: the other backends of the delivery want the same one.
        with self._lock:
            known = self._payloads.get(delivery_id)
            if known is None:
                known = self._payloads[delivery_id] = self._read(session, delivery_id)
            self._payloads.move_to_end(delivery_id)
            if len(self._payloads) > _AT_HAND:
                self._payloads.popitem(last=False)
            return known

    def _read(self, session: Session, delivery_id: str) -> Trimmed:
        asked = select(Delivery.payload, Delivery.body_removed_at).where(Delivery.delivery_id == delivery_id)
        found = session.execute(asked).one_or_none()
        if found is None:
            raise PayloadGoneError(f"the delivery {delivery_id} is not in the record")
        if found.body_removed_at is not None:
            raise PayloadGoneError(f"the body of the delivery {delivery_id} was removed for its age")
        payload: dict[str, Any] = json.loads(found.payload or b"{}")
        return Trimmed(payload) if self._settings.crcr_strict_compat else trim(payload)
