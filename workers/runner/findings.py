"""What collecting a file brought: its tests, and a sentence where it did not come to its end."""

from __future__ import annotations

from selector.types import CollectedTest
from workers.runner.child.events import Event, Found, Refused
from workers.runner.details import capped, how_it_ended, not_collected, with_output
from workers.runner.types import Collection, RunnerLimits
from workers.runner.watch import End, Ending

STOPPED = "the collection was stopped"


class Findings:
    """What a collecting child reports."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._tests: dict[str, CollectedTest] = {}
        self._refusals: list[str] = []

    def receive(self, event: Event) -> None:
        match event:
            case Found(id=test):
                fields = (event.cls, event.base, event.method, event.op, event.dtype)
                pairs = tuple((pair[0], pair[1]) for pair in event.parameters if len(pair) == 2)
                self._tests.setdefault(test, CollectedTest(test, self._file, *fields, pairs))
            case Refused(reason=reason):
                self._refusals.append(reason)
            case _:
                pass

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
