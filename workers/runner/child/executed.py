"""The pytest plugin that tells which functions tests executed: names once in the life of a child, then numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator

import pytest

from workers.runner.child.channel import Channel
from workers.runner.child.events import Executed
from workers.runner.child.functions import CHUNK, Names, Recorder
from workers.runner.child.order import Order
from workers.runner.child.reporting import import_folders


class ExecutedFunctions:
    """Stands inside the reporter, so that a test's functions are told before its end is."""

    def __init__(self, order: Order, channel: Channel, recorder: Recorder, id_of: Callable[[pytest.Item], str]) -> None:
        self._channel, self._recorder, self._id_of = channel, recorder, id_of
        self._names = Names(order.checkout + os.sep, import_folders())
        self._numbers: dict[str, int] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self) -> None:
        self._tell("")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield
        self._tell(self._id_of(item))
        return result

    def _tell(self, test: str) -> None:
        """What began to run since the last time was executed by `test`, by the collection when that is empty."""
        names = self._names.of(self._recorder.take())
        for start in range(0, len(names), CHUNK):
            self._send(test, names[start : start + CHUNK])

    def _send(self, test: str, names: list[str]) -> None:
        new = [name for name in names if name not in self._numbers]
        for name in new:
            self._numbers[name] = len(self._numbers)
        self._channel.send(Executed(test, new, [self._numbers[name] for name in names]))
