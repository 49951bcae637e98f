"""The login that a clone URL may hold, told to git apart from it: a command line is shown to every user of a machine,
and git writes addresses into its messages.

It goes by a file without a name, which a credential helper of one line reads.
Source: https://git-scm.com/docs/gitcredentials
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from relay.trail.known_secrets import without_login

__all__ = ["login_apart", "without_login"]


@contextmanager
def login_apart(url: str) -> Iterator[tuple[str, Sequence[str], Sequence[int]]]:
    """The address without its login, git's options for that, and the descriptor that they need."""
    shown = without_login(url)
    if shown == url:
        yield url, (), ()
        return
    parts = urlsplit(url)
    login = (("username", parts.username), ("password", parts.password))
    descriptor = os.memfd_create("relay-login")
    try:
        lines = (f"{name}={unquote(text or '').replace(chr(10), '')}\n" for name, text in login)
        os.write(descriptor, "".join(lines).encode())
        helper = f'!f() {{ test "$1" != get || cat /dev/fd/{descriptor}; }}; f'
        yield shown, ("-c", f"credential.helper={helper}"), (descriptor,)
    finally:
        os.close(descriptor)
