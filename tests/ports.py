"""A port of loopback for a server that has to be told one."""

from __future__ import annotations

import socket


def free_port() -> int:
    """One that nobody has, of the kernel's choosing: programs that look from a fixed number up, started side by side,
    choose the same."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port
