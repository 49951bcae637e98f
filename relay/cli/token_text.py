"""What `relay token` says. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable

from relay.cli.text import did_you_mean


def unknown_scope(given: str, guess: str, known: Iterable[str]) -> str:
    return f"there is no scope '{given}'.{did_you_mean(guess) if guess else ''} Scopes are: {', '.join(known)}."


def bad_name(most: int) -> str:
    return f"a name has {most} letters, digits and . _ @ / + - at most, and begins and ends with a letter or digit"


def bad_expiry(given: str) -> str:
    return f"'{given}' is no duration or date; write 12h, 90d, 2027-01-31, or never"


def made(name: str, scope: str, until: str) -> str:
    return f"token {name}, scope {scope}, {until}; it is shown this once, so keep it now"


def valid_until(moment: str) -> str:
    return f"valid until {moment}"


def without_end() -> str:
    return "valid until it is revoked"


def no_tokens() -> str:
    return "no token was made here; those of the settings are shown by `relay token show`"


def revoked(token_id: int, name: str) -> str:
    return f"token {token_id} ({name}) is revoked; sign-ins with it have ended"


def revoke_question(token_id: int) -> str:
    return f"Revoke token {token_id}? What uses it stops working at once."


def never_used() -> str:
    return "never"
