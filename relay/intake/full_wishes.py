"""Who may ask that everything runs, and the sentence that says so: a label, or a standing wish in the settings.

Pure: it decides about parsed events, and knows neither GitHub's JSON nor the record.
"""

from __future__ import annotations

from dataclasses import dataclass

from relay.intake.events import PullRequestChanged, PushReceived
from relay.settings import RelaySettings

EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class FullWishes:
    """Labels and authors for whom no selection is made. Both are casefolded, as GitHub compares them."""

    labels: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()

    def why(self, event: PullRequestChanged | PushReceived) -> str:
        """Why everything runs for this event, empty when it does not."""
        if isinstance(event, PullRequestChanged):
            label = next((name for name in event.labels if name.casefold() in self.labels), "")
            if label or event.label:
                return f'the pull request has the label "{label or event.label}"'
            if event.author and event.author.casefold() in self.authors:
                return f"the settings ask for every test of {event.author}'s pull requests (RELAY_FULL_FOR)"
        if EVERYBODY in self.authors:
            return "the settings ask for every test of every change (RELAY_FULL_FOR)"
        return ""


NO_WISHES = FullWishes()


def full_wishes(settings: RelaySettings) -> FullWishes:
    """The wishes of a service's settings."""
    return FullWishes(_names(settings.full_labels), _names(settings.full_for))


def _names(listed: str) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in listed.split(",") if name.strip())
