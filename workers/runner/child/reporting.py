"""The pytest plugin inside a child: names what was collected, keeps to the order, says how every test went.

Runs in the process of the test code. Only `child` imports it: a worker can do without pytest.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from workers.runner.child.channel import Channel
from workers.runner.child.descendants import is_crowded
from workers.runner.child.events import CROWDED, Began, Ended, Finished, Found, Refused, mark
from workers.runner.child.generation import Generation, Origin, as_texts
from workers.runner.child.order import Order

_FRAMES_OF_FILE = 3
_FRAMES_AT_END = 2
_FRAME_CAP = 300
#: More children than this are no service that the next test may need.
_CHILDREN_CAP = 50
#: Frames of these say nothing about the test.
_HARNESS = ("/_pytest/", "/unittest/")


class Reporter:
    """One pytest session over one file.

    `collected` is True when the file was imported, `done` when every wanted test has had its turn. `interruption` is
    the exception that ended the session early, if it was one.
    """

    def __init__(self, order: Order, channel: Channel, generation: Generation, stderr: int) -> None:
        self._order, self._channel, self._generation, self._stderr = order, channel, generation, stderr
        # Details end on public pages, where a path says which file it was and nothing about the machine.
        self._folders = (order.checkout + os.sep, *import_folders())
        self._device = sys.modules.get(f"torch.{order.device}")
        self._ids: dict[pytest.Item, str] = {}
        self._account = _Account()
        self.done = False
        self.collected = False
        self.interruption = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.refuse(report.longreprtext)
        elif report.skipped:
            self.refuse(f"skipped at import: {_skip_reason(report.longrepr)}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.interruption = f"raised {excinfo.value!r}"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.interruption = f"raised {excinfo.value!r}"

    def refuse(self, reason: str) -> None:
        """The end of the text is what matters: a traceback ends in its error."""
        for folder in self._folders:
            reason = reason.replace(folder, "")
        self._channel.send(Refused(reason[-self._order.detail_chars :]))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found = {test.id: (item, test) for item in items if (test := self._describe(item)) is not None}
        self.collected = True
        if self._order.ids is None:
            for _, test in found.values():
                self._channel.send(test)
            items.clear()
            return
        self._ids = {found[test][0]: test for test in self._order.ids if test in found}
        items[:] = self._ids

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        result = yield
        self.done = True
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        test = self._ids[item]
        self._account = _Account()
        _write_quietly(self._stderr, mark(test))
        self._operators()
        self._channel.send(Began(test))
        began = time.perf_counter()
        result = yield
        seconds = time.perf_counter() - began
        _flush_prints()
        observation, detail = self._account.verdict()
        operators = self._operators()
        self._channel.send(Ended(test, observation, seconds, detail[: self._order.detail_chars], operators))
        if is_crowded(_CHILDREN_CAP):
            # They would leave the next tests no process to start; the warm parent clears them away with this one.
            os._exit(CROWDED)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        self._channel.require_owner()
        report = yield
        self._account.add(report, self._failure(call, report) if report.failed else "")
        return report

    def id_of(self, item: pytest.Item) -> str:
        """The id of a test that is ordered."""
        return self._ids[item]

    def finish(self) -> None:
        self._channel.send(Finished())

    def _operators(self) -> list[str]:
        """What the device saw since it was asked last; nothing from a device that does not tell."""
        take = getattr(self._device, "take_operators", None)
        names = take() if take is not None else []
        return [name[: self._order.operator_chars] for name in names[: self._order.operators]]

    def _describe(self, item: pytest.Item) -> Found | None:
        if not isinstance(item, pytest.Function):
            return None
        classes = [node.obj for node in item.listchain() if isinstance(node, pytest.Class)]
        names = [self._generation.class_names(cls) for cls in classes]
        base = item.originalname or item.name
        origin = Origin(base, parameters=_callspec(item))
        if classes and base == item.name:
            origin = self._generation.origin(classes[-1], item.name, Path(self._order.path))
        return Found(
            id="::".join([self._order.file, *(shown for _, shown in names), item.name]),
            cls="::".join(generic for generic, _ in names),
            base=origin.base,
            method=item.name,
            op=origin.op,
            dtype=origin.dtype,
            parameters=[list(pair) for pair in origin.parameters],
        )

    def _failure(self, call: pytest.CallInfo[None], report: pytest.TestReport) -> str:
        """The message, and where it happened: the last frames of the test file and the last frames of all."""
        where = {"setup": "in set-up: ", "teardown": "in tear-down: "}.get(str(report.when), "")
        if call.excinfo is None:
            return where + report.longreprtext
        error = call.excinfo.value
        message = "".join(traceback.format_exception_only(error)).strip()
        frames = "\n".join(self._frames(traceback.extract_tb(error.__traceback__)))
        return f"{where}{message[: self._order.detail_chars - len(frames) - len(where) - 1]}\n{frames}".strip()

    def _frames(self, stack: traceback.StackSummary) -> list[str]:
        frames = [frame for frame in stack if not any(part in frame.filename for part in _HARNESS)]
        own = [number for number, frame in enumerate(frames) if frame.filename == self._order.path]
        last = range(max(0, len(frames) - _FRAMES_AT_END), len(frames))
        return [self._place(frames[number]) for number in sorted({*own[-_FRAMES_OF_FILE:], *last})]

    def _place(self, frame: traceback.FrameSummary) -> str:
        file = frame.filename
        for folder in self._folders:
            file = file.removeprefix(folder)
        return f"{file}:{frame.lineno} in {frame.name}: {frame.line}"[:_FRAME_CAP]


class _Account:
    """The reports of one test: set-up, call with its subtests, tear-down."""

    def __init__(self) -> None:
        self._failures: list[str] = []
        self._last: pytest.TestReport | None = None

    def add(self, report: pytest.TestReport, failure: str) -> None:
        if report.failed or (report.passed and hasattr(report, "wasxfail")):
            self._failures.append(failure or "unexpected success: the test is declared an expected failure upstream")
        elif report.when != "teardown":
            self._last = report

    def verdict(self) -> tuple[str, str]:
        """Any failure counts; else the call, which is reported after its subtests, or the set-up that skipped it."""
        if self._failures:
            return "failed", "\n".join(self._failures)
        if self._last is not None and self._last.skipped:
            if hasattr(self._last, "wasxfail"):
                return "skipped", f"expected failure declared upstream {self._last.wasxfail}".strip()
            return "skipped", _skip_reason(self._last.longrepr)
        return "passed", ""


def _callspec(item: pytest.Function) -> tuple[tuple[str, str], ...]:
    """The parameters of pytest's own parametrization."""
    callspec = getattr(item, "callspec", None)
    return as_texts(callspec.params) if callspec is not None else ()


def import_folders() -> list[str]:
    """Where torch (the installed one, or the one with the change laid over it) and the other packages come from."""
    torch = sys.modules.get("torch")
    overlay = [str(Path(torch.__file__).parents[1]) + os.sep] if torch is not None and torch.__file__ else []
    return [*overlay, *(folder + os.sep for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})]


def _skip_reason(longrepr: object) -> str:
    """pytest gives a skip as (file, line, reason), with the name of the exception before the reason."""
    reason = longrepr[2] if isinstance(longrepr, tuple) else longrepr
    return str(reason).removeprefix("Skipped: ").removeprefix("unittest.case.SkipTest: ")


def _flush_prints() -> None:
    """What a test printed must stand before the next test's mark."""
    for stream in (sys.__stdout__, sys.__stderr__):
        # A test may have closed it, or put something else in its place.
        with suppress(OSError, ValueError, AttributeError):
            if stream is not None:
                stream.flush()


def _write_quietly(descriptor: int, text: str) -> None:
    try:
        os.write(descriptor, text.encode(errors="replace"))
    except OSError:
        return
