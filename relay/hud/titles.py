"""Titles and authors of pull requests and commits, for the pages that list them (`pr-info`, `commit-info`).

Owns reading the request and remembering answers for a while: anybody may ask, and each question that is not remembered
is one to GitHub. Must not know how GitHub is asked.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from relay.hud.errors import HudError
from relay.hud.untrusted import LARGEST_ATTEMPT

#: As many as one question to GitHub may be about.
ASKED_AT_MOST = 50
_REMEMBERED_AT_MOST = 5_000
_SHA_CHARACTERS = frozenset("0123456789abcdefABCDEF")

Title = tuple[str, str]
Ask = Callable[[Sequence[str]], Mapping[str, Title]]


class TitleBook:
    """Answers of a while ago, for one kind of thing. Safe for threads; two that miss the same one may both ask."""

    def __init__(self, keep: timedelta) -> None:
        self._keep = keep
        self._known: OrderedDict[str, tuple[datetime, Title]] = OrderedDict()
        self._lock = threading.Lock()

    def titles(self, wanted: Sequence[str], ask: Ask, now: datetime) -> dict[str, Title]:
        """Title and author of each; both empty for one that GitHub does not know. `ask` is called at most once."""
        with self._lock:
            known = {name: self._known[name] for name in wanted if name in self._known}
        fresh = {name: title for name, (at, title) in known.items() if now - at < self._keep}
        missing = [name for name in dict.fromkeys(wanted) if name not in fresh]
        if missing:
            found = ask(missing)
            told = {name: found.get(name, ("", "")) for name in missing}
            self._remember(told, now)
            fresh |= told
        return {name: fresh[name] for name in wanted}

    def _remember(self, told: Mapping[str, Title], now: datetime) -> None:
        with self._lock:
            for name, title in told.items():
                self._known[name] = (now, title)
                self._known.move_to_end(name)
            while len(self._known) > _REMEMBERED_AT_MOST:
                self._known.popitem(last=False)


def read_pulls(sent: str) -> list[str]:
    """The numbers out of a comma-separated list; what is no number is left out."""
    numbers = [one.strip() for one in sent.split(",")]
    usable = [one for one in numbers if one.isascii() and one.isdecimal() and len(one) < 11]
    return [str(int(one)) for one in usable if 0 < int(one) <= LARGEST_ATTEMPT][:ASKED_AT_MOST]


def read_commits(sent: str) -> list[str]:
    """The commits out of a comma-separated list; what is no hexadecimal name is left out, for it becomes a part of the
    question to GitHub."""
    names = [one.strip() for one in sent.split(",")]
    return [one for one in names if 7 <= len(one) <= 64 and _SHA_CHARACTERS.issuperset(one)][:ASKED_AT_MOST]


def check_asked(repo: str, sent: str, name: str, upstream_repo: str) -> None:
    """Refuse questions that lack a part, or are about another repository.

    Raises:
        HudError: 400 or 403.
    """
    if not repo or not sent:
        raise HudError(400, f"Missing required params: repo, {name}")
    if repo.casefold() != upstream_repo.casefold():
        raise HudError(403, "Repository not allowed")
