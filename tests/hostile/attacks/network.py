"""Speaks with somebody: servers of this machine wait on every kind of address and count who comes."""

from __future__ import annotations

import os
import socket
import unittest

from tests.hostile.attacks.tries import FACTS, Tries

TCP, UDP, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
ICMP, ICMP6 = socket.IPPROTO_ICMP, socket.IPPROTO_ICMPV6


class TestNetwork(unittest.TestCase):
    def test_families(self) -> None:
        tries = Tries()
        kinds = {"tcp": (socket.AF_INET, TCP), "udp": (socket.AF_INET, UDP), "icmp": (socket.AF_INET, UDP, ICMP),
                 "raw": (socket.AF_INET, RAW, ICMP), "tcp6": (socket.AF_INET6, TCP), "udp6": (socket.AF_INET6, UDP),
                 "icmp6": (socket.AF_INET6, UDP, ICMP6), "netlink": (socket.AF_NETLINK, RAW),
                 "packet": (socket.AF_PACKET, RAW), "vsock": (socket.AF_VSOCK, TCP), "xdp": (44, RAW),
                 "alg": (38, socket.SOCK_SEQPACKET), "bluetooth": (31, RAW, 1), "can": (29, RAW, 1),
                 "rds": (21, socket.SOCK_SEQPACKET), "tipc": (30, TCP)}  # fmt: skip
        for name, kind in kinds.items():
            tries.must_fail(name, lambda kind=kind: socket.socket(*kind).close())
            tries.must_fail(f"{name} pair", lambda kind=kind: list(map(socket.socket.close, socket.socketpair(*kind))))
        tries.report()

    def test_servers(self) -> None:
        tries = Tries()
        port = FACTS["port"]
        tries.must_fail("tcp", lambda: socket.create_connection(("127.0.0.1", port), timeout=1).close())
        tries.must_fail("tcp6", lambda: socket.create_connection(("::1", port), timeout=1).close())
        tries.must_fail("udp", lambda: socket.socket(socket.AF_INET, UDP).sendto(b"x", ("127.0.0.1", FACTS["udp"])))
        tries.must_fail("the relay", lambda: socket.create_connection(("127.0.0.1", FACTS["relay"]), timeout=1).close())
        tries.must_fail("a name", lambda: socket.getaddrinfo("elsewhere.example", 80))
        tries.must_fail("abstract", _connected, f"\0{FACTS['abstract']}")
        for name, path in FACTS["sockets"].items():
            tries.must_fail(name, _connected, path)
            tries.must_fail(f"{name} by the root", _connected, f"/proc/1/root{path}")
        tries.must_fail("docker", _connected, "/var/run/docker.sock")
        tries.must_fail("the bus", _connected, "/run/dbus/system_bus_socket")
        tries.must_find_nothing("a server's descriptor", _stolen)
        tries.report()

    def test_pairs(self) -> None:
        """What a test may have: two ends of its own, which asyncio and multiprocessing are made of."""
        here, there = socket.socketpair()
        here.send(b"x")
        assert there.recv(1) == b"x"


def _connected(address: str) -> None:
    with socket.socket(socket.AF_UNIX, TCP) as client:
        client.settimeout(1)
        client.connect(address)


def _stolen() -> list[str]:
    """Sockets that were left open for this process."""
    links = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if int(name) > 2]
    return [link for link in links if link.startswith("socket:")]
