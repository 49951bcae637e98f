"""Whether a relay has all that the cross-repository protocol asks of it.

One machine works without the protocol, and with a part of it what must be sent waits; the original relay does not
start then, and strict compatibility is not to start either.
"""

from __future__ import annotations

from relay.errors import SettingsError
from relay.settings.model import RelaySettings
from relay.settings.original import ORIGINAL_NAMES

#: Without these the original refuses to work (crcr-protocol 4.1). Its Redis is not needed: our record stands in for it.
REQUIRED = ("github_app_id", "webhook_secret", "github_app_private_key", "allowlist_url")
#: Without these nobody is asked whether a comment's author may.
COMMENTING = ("github_app_id", "github_app_private_key", "allowlist_url")


def missing_for_protocol(settings: RelaySettings) -> tuple[str, ...]:
    """The variables that are still to be set, under our names and the original's."""
    missing = [name for name in REQUIRED if not getattr(settings, name)]
    return tuple(f"RELAY_{name.upper()} (or {ORIGINAL_NAMES[name]})" for name in missing)


def require_protocol(settings: RelaySettings) -> None:
    """Accept settings under which every part of the protocol works.

    Raises:
        SettingsError: some are missing; the text names all of them.
    """
    if missing := missing_for_protocol(settings):
        raise SettingsError(f"The relay protocol needs settings that are not there: {', '.join(missing)}.")


def require_comments(settings: RelaySettings) -> None:
    """Accept settings under which comments can be judged and answered.

    Raises:
        SettingsError: something is missing; the text names all of it.
    """
    if missing := [name for name in COMMENTING if not getattr(settings, name)]:
        listed = ", ".join(f"RELAY_{name.upper()}" for name in missing)
        raise SettingsError(
            f"RELAY_COMMENT_COMMANDS needs a GitHub App that answers; these are not there: {listed}. "
            "(A relay without backends takes a file with an empty allowlist.)"
        )
