"""What the pages about backends share: tabs and ranges, cards, the probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from relay.hud.backend_pages import nightly_dashboard
from relay.hud.counting import PROBE_REPO
from relay.hud.health import NIGHTLY_DAYS, PULLS_JUDGED, Health, nightly_health, relay_health
from relay.hud.pull_pages import probe_pull_requests
from relay.hud.tabs import Tab
from relay.web import backend_words as words
from relay.web.backend_reading import USUAL_DAYS
from relay.web.pages.shell import choice, number
from relay.web.pages.switches import Given, Switch, switches
from relay.web.wording import Word

PATH = "/backends"
USUAL_TAB = Tab.PULL_REQUEST
#: Rows of the probe's scheduled jobs, enough for the runs that are judged.
_PROBE_ROWS = 500


@dataclass(frozen=True, slots=True)
class Card:
    """One figure with its words."""

    label: str
    value: str
    note: str = ""
    word: Word | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The tab and the range of days that an address asks for."""

    tab: Tab
    days: int

    @classmethod
    def read(cls, event: str, days: str) -> View:
        """The usual ones for anything that the pages do not offer."""
        asked = number(days)
        offered = [offer for offer, _ in words.DAY_WORDS]
        return cls(choice(Tab, event) or USUAL_TAB, asked if asked in offered else USUAL_DAYS)

    @property
    def given(self) -> Given:
        """The parameters of an address; usual ones need no naming."""
        return {"event": _event(self.tab), "days": _days(self.days)}

    def tabs(self, path: str) -> tuple[Switch, ...]:
        """Links to the tabs."""
        options = [(_event(tab), word) for tab, word in words.TAB_WORDS.items()]
        return switches(path, self.given, "event", options)

    def ranges(self, path: str) -> tuple[Switch, ...]:
        """Links to the ranges."""
        return switches(path, self.given, "days", [(_days(days), word) for days, word in words.DAY_WORDS])


def _event(tab: Tab) -> str:
    return "" if tab is USUAL_TAB else tab.value


def _days(days: int) -> int:
    return 0 if days == USUAL_DAYS else days


def probe_cards(session: Session, now: datetime) -> tuple[Card, ...]:
    """Whether the relay itself works, by its probe; nothing of a relay without one."""
    pulls = relay_health(probe_pull_requests(session, count=PULLS_JUDGED, now=now))
    rows = nightly_dashboard(
        session,
        repo=PROBE_REPO,
        days=NIGHTLY_DAYS,
        event_type=Tab.NIGHTLY.value,
        per_page=_PROBE_ROWS,
        offset=0,
        now=now,
    )
    told = (("Relay, pull requests", pulls), ("Relay, nightly", nightly_health(rows)))
    return tuple(_probe_card(label, found) for label, found in told if found is not Health.NO_DATA)


def _probe_card(label: str, found: Health) -> Card:
    word = words.health(found)
    return Card(label, "", word.meaning, word)


def joined(parts: Sequence[str]) -> str:
    """The parts that say something, as one note."""
    return "; ".join(part for part in parts if part)
