"""What makes a single value usable. Every function takes what was given and returns what is meant; its errors never
quote the value, which may be a secret.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

#: In characters, of a secret that people make up.
SECRET_MINIMUM = 16
#: Cadences of backends, such as "owner/name=24h, owner/name:periodic=6h".
CADENCES = r"^(\s*[\w.-]+/[\w.-]+(:(nightly|periodic))?=[1-9]\d{0,3}h\s*(,|$))*$"
#: Repositories whose comments are read: "off", or "upstream" and names of others.
COMMENTED = r"^(off|\s*(upstream|[\w.-]+/[\w.-]+)\s*(,\s*(upstream|[\w.-]+/[\w.-]+)\s*)*)$"
_REDIS_PORT = 6379
#: A name or an IPv4 address, then perhaps a port.
_ENDPOINT = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::(\d{1,5}))?")


def web_address(url: str) -> str:
    """An http(s) address without trailing slashes.

    Raises:
        ValueError: it is none.
    """
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ValueError("must be an address that starts with https:// or http://")
    return url.rstrip("/")


def safe_address(url: str) -> str:
    """An https address, or plain http on this machine: what is sent there carries a key.

    Raises:
        ValueError: it is neither.
    """
    if urlsplit(web_address(url)).scheme != "https" and not on_this_machine(url):
        raise ValueError("must start with https:// (plain http only on this machine), because a key is sent there")
    return url.rstrip("/")


def local_address(url: str) -> str:
    """An address on this machine.

    Raises:
        ValueError: it is elsewhere.
    """
    if not on_this_machine(web_address(url)):
        raise ValueError("must be on this machine, such as http://127.0.0.1:3000")
    return url.rstrip("/")


def on_this_machine(url: str) -> bool:
    """Whether the host of an address is this machine, by name or by number."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def redis_url(endpoint: str, login: str, *, encrypted: bool) -> str:
    """The URL of the Redis at `host[:port]`, for a login of the form `user:password` or just a password.

    Raises:
        ValueError: the endpoint is not of that form.
    """
    match = _ENDPOINT.fullmatch(endpoint.strip())
    port = int(match[2] or _REDIS_PORT) if match else 0
    if match is None or not 0 < port < 65_536:
        raise ValueError("must be host or host:port, not a URL, and the port between 1 and 65535")
    user, colon, password = login.strip().partition(":")
    if not colon:
        user, password = "", user
    account = f"{quote(user, safe='')}:{quote(password, safe='')}@" if password else ""
    # The broker's client wants to be told that certificates count.
    scheme, options = ("rediss", "?ssl_cert_reqs=required") if encrypted else ("redis", "")
    return f"{scheme}://{account}{match[1]}:{port}/0{options}"
