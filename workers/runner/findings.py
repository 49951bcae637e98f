"""What collecting a file brought: its tests, and a sentence where it did not come to its end."""

from __future__ import annotations

from selector.types import CollectedTest
from workers.runner.child.events import Event, Found, Refused
from workers.runner.details import capped, how_it_ended, not_collected, with_output
from workers.runner.types import Collection, RunnerLimits
from workers.runner.watch import End, Ending

STOPPED = "the collection was stopped"
#: Characters of all tests of a file; PyTorch's largest has a tenth of it.
_LISTED_CHARS = 1 << 26
_REFUSALS = 1_000


class Findings:
    """What a collecting child reports."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._tests: dict[str, CollectedTest] = {}
        self._refusals: list[str] = []
        self._room = _LISTED_CHARS

    def receive(self, event: Event) -> None:
        match event:
            # A file has tests of its own and no others', whoever says so.
            case Found(id=test) if test.startswith(f"{self._file}::") and test not in self._tests:
                self._list(event)
            case Refused(reason=reason) if len(self._refusals) < _REFUSALS:
                self._refusals.append(capped(reason))
            case _:
                pass

    def _list(self, found: Found) -> None:
        pairs = tuple((pair[0], pair[1]) for pair in found.parameters if len(pair) == 2)
        fields = (found.cls, found.base, found.method, found.op, found.dtype)
        if self._room <= 0:
            return
        self._room -= len(found.id) + sum(len(text or "") for text in (*fields, *sum(pairs, ())))
        if self._room <= 0:
            self._refusals.append("the file lists more tests than can be taken in; those after them are left out")
        self._tests[found.id] = CollectedTest(found.id, self._file, *fields, pairs)

    def collection(self, problem: str) -> Collection:
        """`problem` is what was seen from outside."""
        return Collection(
            tuple(self._tests.values()), capped("\n".join(text for text in (*self._refusals, problem) if text))
        )


def collect_problem(ending: Ending, limits: RunnerLimits, output: str) -> str:
    """What an end says about a collection; an empty text when it was complete."""
    match ending.end:
        case End.FINISHED:
            return ""
        case End.STOPPED:
            return STOPPED
        case End.EXITED | End.VANISHED:
            return with_output(f"while the file was collected: {how_it_ended(ending.status)}", output)
        case _:
            return with_output(not_collected(limits.collect_timeout_s), output)
