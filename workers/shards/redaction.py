"""Taking secrets out of what tests print before it leaves this machine.

A test process is given no secret; one that finds some nevertheless (a file, a token in a URL) must not publish it by
printing it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[hidden]"
#: Shorter ones would be found in ordinary words.
_SHORTEST = 8

#: Bounded, so that no text makes them slow.
_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|\bgh[a-z]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bsk-[A-Za-z0-9_-]{20,}|\bxox[a-z]-[A-Za-z0-9-]{10,}"
    r"|\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}",
    re.DOTALL,
)
#: What stands before a secret, in one of the groups, tells that it is one.
_INTRODUCED = re.compile(
    r"((?i:\bauthorization:[ \t]{0,9}(?:bearer|basic|token)[ \t]{1,9}))[^\s\"']+"
    r"|((?i:\bbearer)[ \t]{1,9})[A-Za-z0-9._~+/-]{20,}"
    r"|((?i:\b[a-z][a-z0-9+.-]{0,20})://[^\s/:@]{0,100}:)[^\s/@]{1,500}(?=@)"
    r"|(\b[A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_KEY|ACCESS_KEY|PRIVATE_KEY)=)[^\s\"']+"
)


class Redactor:
    """Replaces the given `secrets` and everything of a secret's shape by a sign that something was there."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one may be a part of another.
        known = sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        text = _SHAPES.sub(HIDDEN, text)
        return _INTRODUCED.sub(_keep_introduction, text)


def _keep_introduction(found: re.Match[str]) -> str:
    return f"{next(filter(None, found.groups()))}{HIDDEN}"
