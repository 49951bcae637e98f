"""The listening socket of the service, made before the application: so its address is known before anything starts."""

from __future__ import annotations

import socket

from relay.failures import Failure


class NotStarted(Failure):
    """The service could not be brought up."""

    code = "not_started"


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address; port 0 takes a free one. Raises `NotStarted` when it is taken or not of this machine."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        hint = "choose another one with --port, 0 takes any free one"
        raise NotStarted(f"cannot listen on {host} port {port}: {error.strerror}", hint) from error
    # What is accepted inherits it. asyncio sets it only for sockets that name their protocol, which this one does not,
    # and an answer's body would wait 40 ms for its head to be acknowledged.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(host: str, listener: socket.socket) -> str:
    """The address on this machine: a socket that listens everywhere is reached by loopback."""
    port = listener.getsockname()[1]
    if host == "0.0.0.0":  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    elif ":" in host:
        host = "[::1]" if host == "::" else f"[{host}]"
    return f"http://{host}:{port}"
