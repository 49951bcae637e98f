"""Running git on hostile input: every git process of the worker starts here, with an environment made from nothing.

Owns the scrubbed environment and the checks of ids, refs and URLs. Knows nothing about shards or checkouts.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SHA = re.compile(r"[0-9a-f]{40}")
_REF = re.compile(r"refs/[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
_REMOTE = re.compile(r"(?:https?|ssh|git)://[A-Za-z0-9\[][^\s\x00-\x1f]*|(?:file://)?/[^\x00-\x1f]*")
_DETAIL_CAP = 600

# What git may know of the machine: how to find programs, and whom to trust. No home, no agent, no askpass, and no
# proxy but the one that is meant for it (`workers.upstream.proxy`).
_KEPT = ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO")


class GitError(Exception):
    """A git step did not work. `hint` is the next thing to try."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint


def checked_sha(text: str) -> str:
    """The text, if it is a full object id. Raises `GitError` otherwise, so that an option is never passed as an id."""
    if not _SHA.fullmatch(text):
        raise GitError(f"{text[:60]!r} is not a full commit id (40 hexadecimal digits).")
    return text


def checked_ref(text: str) -> str:
    """The text, if it is a plain full ref name (`refs/pull/7/head`); patterns and options are refused."""
    if not _REF.fullmatch(text) or ".." in text or text.endswith((".", ".lock")):
        raise GitError(f"{text[:60]!r} is not a full ref name such as refs/pull/7/head.")
    return text


def checked_remote(url: str) -> str:
    """The URL, if it is http(s), ssh, git, file or an absolute path. `ext::` and other helpers run commands."""
    if not _REMOTE.fullmatch(url):
        raise GitError(
            "The upstream clone URL is not of a kind the worker fetches from.",
            "Use an https://, ssh:// or file:// URL, or an absolute path, in the relay's RELAY_UPSTREAM_CLONE_URL.",
        )
    return url


@dataclass(frozen=True, slots=True)
class Git:
    """git in one repository. `config` is the only configuration file it reads besides the repository's own."""

    repository: Path
    config: Path
    timeout_s: float = 1800

    def environment(self) -> dict[str, str]:
        """The whole environment of a git process. Nothing of the worker's own environment but `_KEPT`."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return kept | {
            "HOME": str(self.config.parent),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.config),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def output(self, *arguments: str, accept: Sequence[int] = (0,)) -> bytes:
        """Standard output of `git <arguments>`. Raises `GitError` for other exit codes than `accept`."""
        return self.run(*arguments, accept=accept).stdout

    def text(self, *arguments: str) -> str:
        """Standard output as text without the final line end; undecodable bytes are replaced."""
        return self.output(*arguments).decode("utf-8", "replace").rstrip("\n")

    def succeeds(self, *arguments: str) -> bool:
        """True when the command ends with 0; any other exit code is an answer, not an error."""
        return self.run(*arguments, accept=()).returncode == 0

    def run(
        self, *arguments: str, accept: Sequence[int], passed: Sequence[int] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git with no terminal and no input. An empty `accept` takes every exit code; `passed` are descriptors."""
        try:
            done = subprocess.run(
                ["git", "-C", str(self.repository), *arguments],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=passed,
                timeout=self.timeout_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise GitError(f"git cannot be started: {error}.", "Install git 2.35 or newer.") from error
        except subprocess.TimeoutExpired as error:
            raise GitError(
                f"git {_verb(arguments)} did not end within {self.timeout_s:.0f} s.",
                "Raise RELAY_GIT_TIMEOUT_S, or check the network to the upstream repository.",
            ) from error
        if accept and done.returncode not in accept:
            raise GitError(f"git {_verb(arguments)} failed: {_last_words(done.stderr)}")
        return done


def _verb(arguments: Sequence[str]) -> str:
    """What git was asked to do: what stands before are pieces of configuration."""
    words = list(arguments)
    while words[0] == "-c":
        del words[:2]
    return words[0]


def _last_words(stderr: bytes) -> str:
    words = " ".join(stderr.decode("utf-8", "replace").split())
    return words[-_DETAIL_CAP:] or "no message"
