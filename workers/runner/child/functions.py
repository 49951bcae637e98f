"""Which Python functions begin to run: recorded for the function map, and only when a runner asks for it.

On Python 3.12 and later `sys.monitoring` reports the first start of each function and costs nothing after it. Before
that, `sys.setprofile` sees every call, which makes tests several times slower; a test that sets a profile function of
its own is not seen from then on to its end. Neither sees other processes, nor what `torch.compile` has compiled.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import CodeType, FrameType
from typing import Any

#: Set for the warm parent when functions are to be recorded.
VARIABLE = "OOT_RUNNER_FUNCTIONS"
#: Entries of one message; a line on the pipe has a limit.
CHUNK = 2_000
NAME_CHARS = 300
#: Packages of an import folder whose functions count. Those of a checkout all do.
_PACKAGES = ("torch", "torchgen", "functorch")
#: The name of code that belongs to no function: a module's own.
MODULE = "<module>"


class Recorder:
    """Code that began to run since `take` was called last."""

    def __init__(self) -> None:
        # By identity: equal code of two places is one key in a set, and hashing it is slow.
        self._begun: dict[int, CodeType] = {}
        monitoring: Any = getattr(sys, "monitoring", None)
        begin = _profiled if monitoring is None else _monitored(monitoring)
        self._again: Callable[[], None] = begin(self._begun)

    def take(self) -> list[CodeType]:
        """The code that began, and from now on anew."""
        begun = list(self._begun.values())
        self._begun.clear()
        self._again()
        return begun


def _monitored(monitoring: Any) -> Callable[[dict[int, CodeType]], Callable[[], None]]:
    """By `sys.monitoring` (PEP 669): each code object says once that it starts, until events are restarted."""

    def begin(begun: dict[int, CodeType]) -> Callable[[], None]:
        def started(code: CodeType, _offset: int) -> object:
            begun[id(code)] = code
            return monitoring.DISABLE

        tool = next(number for number in (4, 3, 1) if monitoring.get_tool(number) is None)
        monitoring.use_tool_id(tool, "function map")
        monitoring.register_callback(tool, monitoring.events.PY_START, started)
        monitoring.set_events(tool, monitoring.events.PY_START)
        again: Callable[[], None] = monitoring.restart_events
        return again

    return begin


def _profiled(begun: dict[int, CodeType]) -> Callable[[], None]:
    def called(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            begun[id(frame.f_code)] = frame.f_code

    def again() -> None:
        if sys.getprofile() is not called:
            sys.setprofile(called)
            threading.setprofile(called)

    again()
    return again


def recorder_if_asked() -> Recorder | None:
    """To be called before torch is imported, whose own start counts for every test."""
    return Recorder() if os.environ.pop(VARIABLE, "") else None


class Names:
    """Names of code as `path:qualified.name`, the path in the upstream tree; what is not upstream's has none.

    `checkout` and the `folders` packages are imported from end with a separator.
    """

    def __init__(self, checkout: str, folders: Sequence[str]) -> None:
        self._checkout, self._folders = checkout, tuple(folders)
        self._path = cache(self._find)

    def of(self, codes: Iterable[CodeType]) -> list[str]:
        """The names there are, each once, sorted."""
        named = {
            f"{path}:{function_name(getattr(code, 'co_qualname', code.co_name))}"
            for code in codes
            if (path := self._path(code.co_filename))
        }
        return sorted(name for name in named if len(name) <= NAME_CHARS)

    def _find(self, file: str) -> str:
        for folder in self._folders:
            if file.startswith(folder) and file[len(folder) :].split("/", 1)[0] in _PACKAGES:
                return file[len(folder) :]
        return file.removeprefix(self._checkout) if file.startswith(self._checkout) else ""


def function_name(qualified: str) -> str:
    """Code by its name in the source: `outer.inner` for a function defined in another. What has no name of its own, a
    lambda or a comprehension, is part of what it stands in."""
    named = qualified.replace(".<locals>", "")
    return named.partition(".<")[0] if not named.startswith("<") else MODULE
