"""The proxies whose word about a caller's address is believed. Pure."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network

Networks = tuple[IPv4Network | IPv6Network, ...]


@lru_cache(maxsize=16)
def proxy_networks(given: str) -> Networks:
    """Addresses and networks (`10.0.0.0/8, ::1`), separated by commas.

    Raises:
        ValueError: one of them is neither; its text is quoted, for it is no secret.
    """
    networks = []
    for part in filter(None, map(str.strip, given.split(","))):
        try:
            networks.append(ip_network(part))
        except ValueError:
            raise ValueError(
                f"{part[:60]!r} is no address and no network: write 10.0.0.7, 10.0.0.0/8 or fd00::/8, "
                "several with commas between them"
            ) from None
    return tuple(networks)
