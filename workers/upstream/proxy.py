"""The proxy that git reaches upstream through, told to git alone.

Its address may hold a login, and an environment or a command line can be read by others of the same user; so it goes by
a file without a name, which git reads as a piece of configuration. No other program of a worker is told of it.
Source: https://git-scm.com/docs/git-config (`http.proxy`, `include.path`)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_ADDRESS = re.compile(r"(?:https?|socks5h?)://[^\s\x00-\x1f\"\\\\]+")


def checked_proxy(address: str) -> str:
    """The address, if it is one that git takes. Raises `ValueError`, which does not quote it: it may hold a login."""
    if not _ADDRESS.fullmatch(address):
        raise ValueError("must be http://, https://, socks5:// or socks5h://, a host and a port, without white space")
    return address


@contextmanager
def through(proxy: str) -> Iterator[tuple[Sequence[str], Sequence[int]]]:
    """git's options for fetching through a proxy, none without one, and the descriptor that they need."""
    if not proxy:
        yield (), ()
        return
    descriptor = os.memfd_create("relay-proxy")
    try:
        os.write(descriptor, f'[http]\n\tproxy = "{checked_proxy(proxy)}"\n'.encode())
        yield ("-c", f"include.path=/dev/fd/{descriptor}"), (descriptor,)
    finally:
        os.close(descriptor)
