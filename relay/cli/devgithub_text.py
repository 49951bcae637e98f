"""Every sentence of `relay devgithub ...`, as functions named after the situation. Standard library only."""

from __future__ import annotations

from pathlib import Path

HELP = "A GitHub on this machine, to try a relay with: pull requests, webhooks, check runs, backends."

EPILOG = """\b
Examples:
  relay devgithub --clone ~/pytorch --backend acme/torch-acme
  relay devgithub open my-branch --label ciflow/crcr/acme
  relay devgithub sync 1 my-branch
  relay devgithub comment 1 "/relay retest"
  relay devgithub close 1 --merged
"""


def serving(url: str, upstream: str, backends: tuple[str, ...]) -> str:
    named = ", ".join(backends) if backends else "no backend (name some with --backend)"
    return f"GitHub on this machine at {url}: upstream {upstream}, {named}"


def how_to_point(script: Path, relay_url: str) -> str:
    return f"point a relay at it: `. {script} && relay up`; its webhooks go to {relay_url}"


def how_to_steer() -> str:
    return "then open a pull request from another terminal: `relay devgithub open HEAD`"


def stopped() -> str:
    return "stopped; what was in it is gone, its keys are kept"


def already_running(url: str | None) -> str:
    return f"a local GitHub is already running{' at ' + url if url else ''}"


def already_running_hint() -> str:
    return "use that one, stop it, or set RELAY_STATE_DIR to another folder"


def not_running() -> str:
    return "no local GitHub runs here"


def not_running_hint() -> str:
    return "start one with `relay devgithub` in another terminal"


def unusable_folder(path: Path, why: str | None) -> str:
    return f"the keys of the local GitHub cannot be kept in {path}: {why}"


def unusable_folder_hint() -> str:
    return "set RELAY_STATE_DIR to a folder this user may write"


def no_clone(path: Path) -> str:
    return f"{path} is not a git repository"


def no_clone_hint() -> str:
    return "give --clone the path of a checkout of the upstream"


def no_name(name: str) -> str:
    return f"{name!r} is not the name of a repository (owner/name)"


def refused(status: int, message: str) -> str:
    return f"the local GitHub refused ({status}): {message}"


def refused_hint() -> str:
    return "`relay devgithub show` lists what is there"


def unreachable(url: str) -> str:
    return f"the local GitHub at {url} does not answer"


def pull(number: int, head_sha: str, what: str) -> str:
    return f"pull request {number} {what} (head {head_sha[:12]})"


def commented(author: str, number: int) -> str:
    return f"{author} commented on pull request {number}; `relay devgithub comment {number}` shows the answer"


def said_by(author: str, at: str) -> str:
    return f"{author} at {at}:"


def nothing_said(number: int) -> str:
    return f"nothing was said on pull request {number}"


def pushed(ref: str, after: str) -> str:
    return f"{ref} is now at {after[:12]}"


def asked_again(what: str) -> str:
    return f"asked for {what} again"


def run_moved(run_id: int, status: str, conclusion: str | None) -> str:
    return f"run {run_id} is {status}{f' ({conclusion})' if conclusion else ''}"


def delivered(event: str, status_code: int, answer: str) -> str:
    return f"  {event}: the relay answered {status_code} {answer}".rstrip()


def not_delivered(event: str, status: str) -> str:
    return f"  {event}: the relay was not reached ({status}); is it up, and does --relay name it?"


def nobody_heard() -> str:
    return "  nobody was told: the app hears of no such event"
