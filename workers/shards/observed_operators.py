"""What the selector may know of earlier runs, asked of the relay: which tests used an operator on this device.

Owns what happens when the relay does not answer: the selection goes on with what is written in the tree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from relay.contract import OPERATOR_CAP, OPERATORS_CAP, ObservedOperators, OperatorsAsked
from workers.relay_client import RelayError

log = structlog.get_logger(__name__)


class OperatorRecord(Protocol):
    """What asking needs of the relay client."""

    def observed_operators(self, asked: OperatorsAsked) -> ObservedOperators: ...


@dataclass(frozen=True, slots=True)
class RecordedTests:
    """`selector.known.ObservedTests` from the relay's record of one device."""

    record: OperatorRecord
    device: str

    def tests_using(self, operators: Collection[str]) -> Mapping[str, Collection[str]]:
        names = [name for name in operators if 0 < len(name) <= OPERATOR_CAP][:OPERATORS_CAP]
        if not names:
            return {}
        try:
            answer = self.record.observed_operators(OperatorsAsked(device=self.device, operators=tuple(names)))
        except RelayError as error:
            log.warning("observed operators are not known", error=str(error))
            return {}
        return {uses.operator: uses.tests for uses in answer.operators if uses.tests}
