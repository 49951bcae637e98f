"""In which repositories comments are read for commands, and which webhooks are therefore taken in at all. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from relay.intake.events import SUPPORTED_EVENTS, names_repository
from relay.settings import RelaySettings

COMMENT_EVENT = "issue_comment"
#: The words of RELAY_COMMENT_COMMANDS; everything else in it is a repository.
OFF, UPSTREAM = "off", "upstream"


def commanded_repositories(settings: RelaySettings) -> frozenset[str]:
    """The repositories (casefolded) whose comments are read; none unless an operator named some."""
    named = (name.strip().casefold() for name in settings.comment_commands.split(","))
    wanted = {settings.upstream_repo.casefold() if name == UPSTREAM else name for name in named}
    return frozenset(wanted - {OFF, ""})


def is_supported(settings: RelaySettings, event: str) -> bool:
    """Whether a webhook of this event is looked at; others are answered unseen."""
    return event in SUPPORTED_EVENTS or (event == COMMENT_EVENT and bool(commanded_repositories(settings)))


def is_ours(settings: RelaySettings, event: str, payload: Mapping[str, object]) -> bool:
    """Whether a webhook is about a repository that this relay listens to for this event."""
    if event != COMMENT_EVENT:
        return names_repository(payload, settings.upstream_repo)
    return any(names_repository(payload, repo) for repo in commanded_repositories(settings))
