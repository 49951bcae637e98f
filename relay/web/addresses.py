"""Where a request comes from: the address of the connection, or what a proxy of ours says it was.

`X-Forwarded-For` is a list to which every proxy adds the address that it was asked from; whatever stands left of what
our own proxies wrote was written by the caller and proves nothing. So it is read from the right, as far as the setting
`RELAY_TRUSTED_PROXIES` reaches, and not at all when the connection is not one of theirs.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from fastapi import Request

from relay.context import RelayContext
from relay.settings.proxies import Networks, proxy_networks

#: More proxies than this are not passed through; the header may be as long as headers may.
_HOPS = 16
#: An address as proxies write it: plain, or with a port, IPv6 then in brackets.
_HOP = re.compile(r"\[?([0-9A-Fa-f:.]{2,45}?)(?:\](?::\d{1,5})?|(?<=\d):\d{1,5})?")

Address = IPv4Address | IPv6Address


def address_of(request: Request, context: RelayContext) -> str:
    """The caller's address as text; empty when the connection has none."""
    peer = request.client.host if request.client else ""
    proxies = proxy_networks(context.settings.trusted_proxies)
    return caller_behind(peer, request.headers.getlist("X-Forwarded-For"), proxies) if proxies else peer


def caller_behind(peer: str, forwarded: list[str], proxies: Networks) -> str:
    """Who asked the outermost proxy that is trusted. `peer` itself when it is no such proxy or says nothing usable."""
    caller = _parsed(peer)
    if caller is None:
        return peer
    hops = ",".join(forwarded).split(",")[-_HOPS:]
    for hop in reversed(hops):
        if not _is_within(caller, proxies):
            break
        before = _parsed(hop.strip())
        if before is None:
            break
        caller = before
    return str(caller)


def _parsed(text: str) -> Address | None:
    """An address, an IPv4 one also where it is written as IPv6."""
    for written in (text, (found[1] if (found := _HOP.fullmatch(text)) else "")):
        try:
            address = ip_address(written)
        except ValueError:
            continue
        return getattr(address, "ipv4_mapped", None) or address
    return None


def _is_within(address: Address, networks: Networks) -> bool:
    return any(address in network for network in networks)
