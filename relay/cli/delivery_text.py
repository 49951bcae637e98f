"""The words of `relay delivery`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from relay.cli.output import one_line
from relay.cli.text import did_you_mean

if TYPE_CHECKING:
    from relay.outbox.views import DispatchView, LetterState, LetterView


def ids_or_dead() -> str:
    return "name deliveries by number, or all dead ones by --dead"


def unknown_kind(given: str, guess: str, known: Sequence[str]) -> str:
    return f"there is no kind '{given}'.{did_you_mean(guess) if guess else ''} Kinds are: {', '.join(known)}."


def counted(counts: Mapping[LetterState, int]) -> str:
    """One sentence for the whole list."""
    told = [f"{count} {state}" for state, count in counts.items()]
    return ", ".join(told) if told else "nothing left the relay, and nothing is to leave it"


def headline(letter: LetterView) -> str:
    return f"delivery {letter.id} ({letter.kind} to {one_line(letter.target)}) is {letter.state}"


def subject(dispatch: DispatchView) -> str:
    """What a dispatch tells of."""
    about = f"pull request #{dispatch.pr_number}" if dispatch.pr_number is not None else dispatch.event
    return f"{dispatch.event}, {about} at {dispatch.head_sha[:10]}" if dispatch.head_sha else about


def replay_question(count: int) -> str:
    return "send 1 dead delivery again?" if count == 1 else f"send {count} dead deliveries again?"


def replayed(ids: Sequence[int]) -> str:
    listed = ", ".join(map(str, ids))
    return f"sending again: {listed}" if listed else "nothing to send again"


def untouched(ids: Sequence[int]) -> str:
    return f"not dead, so left alone: {', '.join(map(str, ids))}"
