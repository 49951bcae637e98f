"""The sentences of `relay demo`. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Sequence


def preparing(upstream: object) -> str:
    return f"reading the change from {upstream}" if upstream else "making an upstream repository with a change in it"


def serving(url: str) -> str:
    return f"the service is up: {url}"


def delivered(delivery: str) -> str:
    return f"webhook delivered: {delivery}"


def refused(status: int, answer: str) -> str:
    return f"the service refused the webhook with {status}: {answer}"


def refused_hint() -> str:
    return "look into the log lines above; RELAY_WEBHOOK_SECRET and RELAY_UPSTREAM_REPO play a part"


def no_run(seconds: float) -> str:
    return f"no run appeared within {seconds:g} s of the webhook"


def no_run_hint() -> str:
    return "`relay doctor` checks what the service needs; the log lines above may say more"


def not_finished(state: str, headline: str) -> str:
    return f"the run did not finish, it is {state}: {headline}"


def as_designed() -> str:
    return "the demo went as designed"


def not_as_designed(problems: Sequence[str]) -> str:
    return "\n".join(("the demo did not go as designed:", *(f"  {problem}" for problem in problems)))


def kept(shown: int, total: int) -> str:
    return f"Selected, {shown} of {total} shown:"


def dropped(shown: int, total: int) -> str:
    return f"Left out, {shown} of {total} shown:"


def must_run() -> str:
    return " (must run)"


def stays(url: str) -> str:
    return f"the page stays up at {url}; Ctrl-C stops it"
