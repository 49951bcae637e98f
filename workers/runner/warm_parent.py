"""The worker's hold on one warm parent: started in the sandbox, spoken to, ended with all that belongs to it.

It is trusted with nothing but its service. When it dies, or does not answer, it is `lost`: whoever needs one starts
another.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from workers.runner.child.control import CONTROL, PACKET_CAP, Exited, Fork, Forked, Message, Ping, Ready
from workers.runner.child.order import Order
from workers.runner.environment import child_environment, command
from workers.runner.output import OutputTail
from workers.runner.sandbox import Launch, Sandbox, interpreter_folders
from workers.runner.staging import code_folder
from workers.runner.strays import end_strays
from workers.runner.types import Installation, RunnerTree

_POLL_S = 0.1
_FOLLOW_S = 3.0


class WarmParent:
    """A running warm parent. `problem` says why torch cannot be imported; None as long as that is not known.

    The kernel ends it when the *thread* that started it ends (`prctl(2)`), so it belongs to one thread.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        output: OutputTail,
        cookie: str,
    ) -> None:
        self._sandbox, self._process, self._control, self._cookie = sandbox, process, control, cookie
        self.output = output
        self.problem: str | None = None
        self.lost = False
        self._hangs = False
        self.forked = False
        self.exited: Exited | None = None

    @property
    def control(self) -> socket.socket:
        """To wait on together with other descriptors; `hear` reads it."""
        return self._control

    def say(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        """Tell it; one that cannot be told is lost."""
        try:
            socket.send_fds(self._control, [CONTROL.encode(message)], descriptors, socket.MSG_DONTWAIT)
        except OSError:
            self.lost = True

    def fork(self, order: Order, events: int, output: int) -> None:
        """Have it fork a child. The descriptors stay the caller's. Raises OSError when memory is out."""
        self.forked, self.exited = False, None
        source = order.dump()
        try:
            self.say(Fork(), (source, events, output))
        finally:
            os.close(source)

    def hear(self) -> Message | None:
        """What it says now, if anything. Its exit and the child's are noted here."""
        try:
            data = self._control.recv(PACKET_CAP, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self.lost = True
            return None
        message = CONTROL.decode(data)
        match message:
            case Ready(problem=problem):
                self.problem = problem
            case Forked():
                self.forked = True
            case Exited():
                self.exited = message
            case _:
                pass
        return message

    def answers(self, seconds: float) -> bool:
        """Whether it answers a ping in time; lost when not."""
        self.say(Ping())
        return self.wait_for(lambda message: message is not None, seconds)

    def wait_for(self, condition: Callable[[Message | None], bool], seconds: float) -> bool:
        """Listen until `condition` holds for what was heard last; False, and lost, when that takes too long."""
        deadline = time.monotonic() + seconds
        while not self.lost:
            if condition(self.hear()):
                return True
            if time.monotonic() >= deadline:
                self.lost = self._hangs = True
            self.output.wait([self._control], _POLL_S)
        return False

    def wait_ready(self, seconds: float, should_stop: Callable[[], bool]) -> None:
        """Until torch is imported or cannot be, or a stop. Without an answer in time it is lost."""
        deadline = time.monotonic() + seconds
        while self.problem is None and not self.lost and not should_stop():
            self.output.wait([self._control], _POLL_S)
            self.hear()
            if time.monotonic() >= deadline:
                self.lost = self._hangs = True

    def last_words(self) -> str:
        """What it printed, when it is lost; while it lives that is nobody's fault."""
        self.output.drain()
        return self.output.after("\0") if self.lost else ""

    def close(self) -> int | None:
        """End it with its group and everything with its cookie; its wait status, None when we ended it."""
        status = self._process.poll()
        # A sandbox whose program has died takes a moment to follow.
        if status is None and self.lost and not self._hangs:
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(_FOLLOW_S)
        self._sandbox.end(self._process)
        end_strays(self._cookie)
        self.output.drain()
        self.output.close()
        self._control.close()
        self.lost = True
        return status


def start_warm_parent(
    installation: Installation,
    tree: RunnerTree,
    sandbox: Sandbox,
    *,
    staged: Path,
    scratch: Path,
    output_bytes: int,
    recording: bool = False,
) -> WarmParent:
    """Start one for a tree. `scratch` is an existing folder of its own; with `recording` its children say which
    functions tests execute. Raises OSError when it cannot be started."""
    cookie = secrets.token_hex(8)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    output, output_in = os.pipe()
    with theirs:
        try:
            process = sandbox.start(
                Launch(
                    argv=command(installation.python, theirs.fileno(), sandbox.private(scratch)),
                    environment=child_environment(
                        installation, torch_path=tree.torch_path, staged=staged, cookie=cookie, recording=recording
                    ),
                    directory=staged,
                    readable=_readable(installation, tree, staged),
                    scratch=scratch,
                    inherited=(theirs.fileno(),),
                    output=output_in,
                )
            )
        except BaseException:
            ours.close()
            os.close(output)
            raise
        finally:
            os.close(output_in)
    return WarmParent(sandbox, process, ours, OutputTail(output, output_bytes), cookie)


def _readable(installation: Installation, tree: RunnerTree, staged: Path) -> tuple[Path, ...]:
    folders = [*interpreter_folders(installation.python), staged, code_folder(), tree.checkout.resolve()]
    if tree.torch_path is not None:
        folders.append(tree.torch_path)
    if installation.library is not None:
        # Alone: its folder has a lock that every shard of this machine takes.
        folders.append(installation.library.resolve())
    if installation.profile.endswith(".toml"):
        folders.append(Path(installation.profile).absolute())
    if installation.weights is not None and installation.weights.is_dir():
        folders.append(installation.weights)
    return tuple(folders)
