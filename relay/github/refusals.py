"""What an answer of GitHub means when it is a refusal: a sentence for operators, and how long to wait. Pure.

Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from relay.github.types import GitHubError
from relay.outgoing import Answer
from relay.printable import printable

#: GitHub asks for at least a minute after its secondary limit when it names no time.
SECONDARY_LIMIT_S = 60.0
_LONGEST_WAIT_S = 86_400.0
_MESSAGE_CAP = 500


def refusal(what: str, answer: Answer, now: datetime) -> GitHubError:
    """The error of an answer that is none of those hoped for. `what` names the request; `now` stands in for GitHub's
    own clock, which an answer usually tells."""
    said = _said(answer)
    message = f"GitHub answered {answer.status} to {what}" + (f": {said}" if said else "")
    return GitHubError(message, status=answer.status, retry_after_s=_wait_s(answer, said, now))


def server_time(headers: httpx.Headers) -> datetime | None:
    """GitHub's clock when it answered, None when the answer does not tell."""
    return _date(headers.get("date", ""))


def one_line(text: str) -> str:
    """Text from outside, short and printable."""
    return printable(text[:_MESSAGE_CAP])


def _said(answer: Answer) -> str:
    """GitHub's `message`, and those of its `errors` (what exactly is wrong with which field)."""
    body = answer.json()
    if not isinstance(body, dict):
        return ""
    parts = [body.get("message"), *_details(body.get("errors"))]
    return one_line("; ".join(part for part in parts if isinstance(part, str) and part))


def _details(errors: object) -> Iterator[object]:
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, dict):
            named = (str(error[key]) for key in ("resource", "field", "code") if key in error)
            yield error.get("message") or " ".join(named)
        else:
            yield error


def _wait_s(answer: Answer, said: str, now: datetime) -> float | None:
    """Seconds that the answer asks for, by GitHub's clock: ours may be wrong. None when it is about no limit."""
    if answer.status not in (403, 429) and answer.status < 500:
        return None
    clock = server_time(answer.headers) or now
    after = answer.headers.get("retry-after", "")
    asked = _number(after)
    if asked is None and (at := _date(after)) is not None:
        asked = (at - clock).total_seconds()
    reset = _number(answer.headers.get("x-ratelimit-reset", ""))
    if asked is None and reset is not None and answer.headers.get("x-ratelimit-remaining") == "0":
        asked = reset - clock.timestamp()
    if asked is None:
        return SECONDARY_LIMIT_S if "secondary rate limit" in said.lower() else None
    return min(max(asked, 1.0), _LONGEST_WAIT_S)


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= 15 else None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
