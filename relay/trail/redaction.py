"""Taking secrets out of text: out of what tests print before it leaves a worker, and out of our own log lines.

A test process is given no secret; one that finds some nevertheless (a file, a token in a URL) must not publish it by
printing it. In our own lines it is the last line of defence, for what an error of a library quotes. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

HIDDEN = "[hidden]"
#: Shorter ones would be found in ordinary words.
_SHORTEST = 8
#: Of a line of a secret that has several, such as a private key.
_SHORTEST_LINE = 24

#: Bounded, so that no text makes them slow.
_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|\bgh[a-z]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bsk-[A-Za-z0-9_-]{20,}|\bxox[a-z]-[A-Za-z0-9-]{10,}"
    r"|\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}",
    re.DOTALL,
)
#: Without one of these, which ordinary lines do not have, no shape is in a text. Looking for them costs little.
_SIGNS = ("-----BEGIN", "gh", "github_pat_", "AKIA", "sk-", "xox", "eyJ")
_SIGNS_BEFORE = ("://", "=", "bearer", "authorization")
#: What stands before a secret, in one of the groups, tells that it is one.
_INTRODUCED = re.compile(
    r"((?i:\bauthorization:[ \t]{0,9}(?:bearer|basic|token)[ \t]{1,9}))[^\s\"']+"
    r"|((?i:\bbearer)[ \t]{1,9})[A-Za-z0-9._~+/-]{20,}"
    r"|((?i:\b[a-z][a-z0-9+.-]{0,20})://[^\s/:@]{0,100}:)[^\s/@]{1,500}(?=@)"
    r"|(\bhttps?://)[^\s/:@]{8,500}(?=@)"
    r"|(\b[A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_KEY|ACCESS_KEY|PRIVATE_KEY)=)[^\s\"']+"
)


class Redactor:
    """Replaces the given `secrets` and everything of a secret's shape by a sign that something was there."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one may be a part of another.
        self._known = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for known in self._known:
            text = text.replace(known, HIDDEN)
        if any(sign in text for sign in _SIGNS):
            text = _SHAPES.sub(HIDDEN, text)
        lowered = text.lower()
        if any(sign in lowered for sign in _SIGNS_BEFORE):
            text = _INTRODUCED.sub(_keep_introduction, text)
        return text


def _forms(secret: str) -> Iterator[str]:
    """A secret as it is, and as it stands in JSON, in a repr and in an address; each line of one that has several."""
    if len(secret) < _SHORTEST:
        return
    yield from (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe=""))
    lines = [line.strip() for line in secret.splitlines()]
    yield from (line for line in lines if len(line) >= _SHORTEST_LINE and not line.startswith("-----"))


def _keep_introduction(found: re.Match[str]) -> str:
    return f"{next(filter(None, found.groups()))}{HIDDEN}"
