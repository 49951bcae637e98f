"""Hosts that are namespaces of this machine, each with an address of its own on a wire that leads nowhere else.

Owns how they are made and that they go: a host is held by a process that ends with the test's, however that ends, and
with it the kernel ends every process in it, its link and its mounts. Nothing of the machine's own network is touched.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

#: Addresses that are for documentation: nobody routes them.
RELAY_ADDRESS = "192.0.2.1"
_WIRE = "wire"
_PROGRAMS = ("ip", "nsenter", "unshare")
_NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid")
#: Says so once the host is as it should be; then it lasts while its input is open.
_HOLD = "hostname {name} && ip link set lo up && {make_own} && echo ready && exec cat"
_READY = "ready"
_GONE_S = 20
#: Another machine has other folders: it reads programs of this one, and sees nothing that belongs to the test.
_OWN_FOLDERS = "mount -t tmpfs -o mode=0755 own {hidden} && mount -o remount,bind,ro /"
_CLONE_NEWNET = 0x40000000


def lacking() -> str:
    """What this machine lacks for hosts of this kind, in a sentence; empty when it lacks nothing."""
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    absent = [program for program in _PROGRAMS if shutil.which(program) is None]
    return f"needs {', '.join(absent)} (iproute2, util-linux)" if absent else ""


@dataclass(frozen=True, slots=True)
class Host:
    """`holder` is the number of its first process, as this machine counts."""

    name: str
    address: str
    holder: int

    def configure(self, *words: str) -> None:
        """Run a program of this machine in the host's network."""
        command = ["nsenter", "--target", str(self.holder), "--net", "--", *words]
        subprocess.run(command, check=True, capture_output=True, text=True)

    @contextmanager
    def started(
        self, words: Sequence[str], environment: Mapping[str, str], log: Path
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program in the host. Its output goes to `log`, a file of this machine."""
        enter = ["nsenter", "--target", str(self.holder), "--wdns=/", *_NAMESPACES, "--"]
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*enter, *words], env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def network(self) -> Iterator[None]:
        """This thread, and what it starts, is in the host's network meanwhile: it reaches what the host reaches."""
        with open(f"/proc/{os.getpid()}/ns/net", "rb") as own, open(f"/proc/{self.holder}/ns/net", "rb") as other:
            _enter(other)
            try:
                yield
            finally:
                _enter(own)


def _enter(namespace: BinaryIO) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace.fileno(), _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


@dataclass(frozen=True, slots=True)
class Network:
    """The relay's host and hosts of workers, which reach each other through it alone."""

    relay: Host
    workers: tuple[Host, ...]

    def cut(self, host: Host) -> None:
        """Pull the plug: what is under way is not told, it just hears no more."""
        self.relay.configure("ip", "link", "set", _port(host), "down")

    def mend(self, host: Host) -> None:
        self.relay.configure("ip", "link", "set", _port(host), "up")


@contextmanager
def network(workers: Sequence[str], hidden: Path) -> Iterator[Network]:
    """A network of hosts. Those of workers write only to a folder of their own at `hidden`, which hides what is there
    on this machine."""
    with ExitStack() as held:
        relay = held.enter_context(_host("relay", RELAY_ADDRESS, "true"))
        _configure(relay, f"link add {_WIRE} type bridge", f"addr add {RELAY_ADDRESS}/24 dev {_WIRE}",
                   f"link set {_WIRE} up")  # fmt: skip
        joined = []
        for number, name in enumerate(workers, start=2):
            own = _OWN_FOLDERS.format(hidden=hidden)
            host = held.enter_context(_host(name, f"192.0.2.{number}", own))
            _configure(relay, f"link add {_port(host)} type veth peer name eth0 netns {host.holder}",
                       f"link set {_port(host)} master {_WIRE} up")  # fmt: skip
            _configure(host, f"addr add {host.address}/24 dev eth0", "link set eth0 up")
            joined.append(host)
        yield Network(relay, tuple(joined))


def _port(host: Host) -> str:
    """The relay's end of a worker's link."""
    return f"to-{host.name}"


def _configure(host: Host, *lines: str) -> None:
    for line in lines:
        host.configure("ip", *line.split())


@contextmanager
def _host(name: str, address: str, make_own: str) -> Iterator[Host]:
    words = ["unshare", *_NAMESPACES, "--fork", "--mount-proc", "--kill-child", "sh", "-c"]
    process = subprocess.Popen(
        [*words, _HOLD.format(name=name, make_own=make_own)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().decode().strip() == _READY, f"host {name} cannot be made"
        (holder,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield Host(name, address, int(holder))
    finally:
        # Its input ends. `unshare` ends when the first process has, and that when all others of the host have.
        process.communicate(timeout=_GONE_S)
