"""What a comment asks for: `/relay VERB ...` lines as commands. Pure.

Owns the verbs and the grammar. A line that cannot be understood is a command, too: its author gets an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from relay.comments.paragraphs import said_lines

PREFIX = "/relay"
#: Commands that are read in one comment; each has an answer, and all answers are in one comment.
MOST = 10
#: Of a line, in characters: a test's id is shorter.
_LINE_CAP = 1_000
#: Before the name of a device, at the end of a line.
_ON = "on"
_PREFIX = re.compile(rf"{PREFIX}(?=\s|$)", re.IGNORECASE)
_TARGET = re.compile(r"([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})#([1-9]\d{0,8})")


class Verb(StrEnum):
    """What can be asked for."""

    TEST = "test"
    RETEST = "retest"
    CANCEL = "cancel"
    WHY = "why"
    HELP = "help"


#: Names that a verb takes, at least and at most.
_TAKES: Mapping[Verb, tuple[int, int]] = {
    Verb.TEST: (0, 20),
    Verb.RETEST: (0, 0),
    Verb.CANCEL: (0, 0),
    Verb.WHY: (1, 1),
    Verb.HELP: (0, 20),
}
#: What people of other bots type.
_OTHER_WORDS: Mapping[str, Verb] = {
    "?": Verb.HELP,
    "rerun": Verb.TEST,
    "run": Verb.TEST,
    "abort": Verb.CANCEL,
    "stop": Verb.CANCEL,
    "explain": Verb.WHY,
}


@dataclass(frozen=True, slots=True)
class Target:
    """A pull request that is named, `owner/name#7`."""

    repo: str
    number: int


@dataclass(frozen=True, slots=True)
class Command:
    """A line as it was typed. `verb` is None when the line cannot be done as it stands: `nearest` is then the verb that
    was probably meant, None when there is none. `device` is what `on DEVICE` at its end says, empty without that."""

    line: str
    verb: Verb | None
    names: tuple[str, ...] = ()
    target: Target | None = None
    nearest: Verb | None = None
    device: str = ""


def commands_in(text: str) -> tuple[Command, ...]:
    """The commands of a comment in their order, at most `MOST` and one more; a reader who finds that one knows that it
    was cut."""
    lines = [line for line in said_lines(text, PREFIX) if _PREFIX.match(line)]
    return tuple(map(_command, lines[: MOST + 1]))


def _command(line: str) -> Command:
    typed = " ".join(line[:_LINE_CAP].split())
    words = typed.split(" ")[1:]
    word = words[0].lower() if words else Verb.HELP
    named = [found for it in words[1:] if (found := _TARGET.fullmatch(it))]
    names = tuple(it for it in words[1:] if not _TARGET.fullmatch(it))
    names, device = (names[:-2], names[-1]) if names[-2:-1] == (_ON,) else (names, "")
    if word not in set(Verb):
        return Command(typed, None, nearest=_nearest(word))
    verb = Verb.HELP if names == ("?",) else Verb(word)
    fewest, most = _TAKES[verb]
    if not fewest <= len(names) <= most or len(named) > 1:
        return Command(typed, None, names, nearest=verb)
    target = Target(named[0][1], int(named[0][2])) if named else None
    return Command(typed, verb, names, target, device=device)


def _nearest(word: str) -> Verb | None:
    known = [*Verb, *_OTHER_WORDS]
    found = get_close_matches(word, known, n=1, cutoff=0.5)
    return _OTHER_WORDS.get(found[0]) or Verb(found[0]) if found else None
