"""A local GitHub behind a real socket, whose traffic is held to GitHub's own description of its API.

For tests of every room: `with serve_devgithub() as github:` gives `github.url` and `github.state`. A request that the
description does not allow is answered 599, and the block ends with an AssertionError that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from relay.devgithub import DevGitHub, create_devgithub
from relay.devgithub.keys import new_private_pem
from tests.github.description import answer_complaints, load_description, request_complaints
from tests.relay.serving import serving


class ServedGitHub(NamedTuple):
    """Where it is, and what is in it."""

    url: str
    state: DevGitHub


@contextmanager
def serve_devgithub(state: DevGitHub | None = None, *, described: bool = True) -> Iterator[ServedGitHub]:
    """Serve a local GitHub on a free port.

    `described=False` leaves the description out: for a request that is wrong on purpose, and for a machine without npm.
    """
    github = state or DevGitHub(issuer_pem=one_key())
    if described:
        _hold_to_description(github)
    try:
        with serving(create_devgithub(github)) as url:
            github.url = url
            yield ServedGitHub(url, github)
            github.hooks.wait_idle()
    finally:
        github.hooks.close()
    assert github.complaints == [], "not as GitHub describes it:\n" + "\n".join(github.complaints)


@cache
def one_key() -> str:
    """A key that a whole test run shares: making one takes longer than most tests."""
    return new_private_pem()


def _hold_to_description(github: DevGitHub) -> None:
    description = load_description()
    github.inspectors.append(lambda asked: request_complaints(description, asked))
    github.answer_inspectors.append(lambda *exchange: answer_complaints(description, *exchange))
