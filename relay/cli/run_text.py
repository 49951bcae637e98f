"""The sentences about one run: asking, its log, its failures, its page. Standard library only, as `text.py`."""

from __future__ import annotations


def run_or_pull_request() -> str:
    return "say which run: its number, or the newest of a pull request with --pr; not both"


def cancel_question(run_id: int, pr: int | None, title: str) -> str:
    change = f"#{pr}, {title}" if pr else title
    return f"cancel run {run_id} ({change})?"


def no_run_of(pr: int, url: str) -> str:
    return f"there is no run of pull request #{pr} at {url}"


def opening(url: str) -> str:
    return f"opening {url}"


def no_browser(url: str) -> str:
    return f"no browser could be started for {url}"


def no_browser_hint() -> str:
    return "open the address yourself, or name a browser in BROWSER"


def goes_on(run_id: int) -> str:
    return f"the run goes on; `relay run logs {run_id} --follow` waits for more"


def no_failures(run_id: int, state: str) -> str:
    return f"run {run_id} is {state} and has no failure"


def left_out(count: int, url: str) -> str:
    noun = "failure does" if count == 1 else "failures do"
    return f"{count} more {noun} not fit in --max-bytes; all of them: {url}"


def rerun_test_command(run_id: int, quoted: str) -> str:
    return f"relay run rerun {run_id} --test {quoted}"


def fails_already(run_id: int) -> str:
    return f"run {run_id} has failures already and goes on; not watched any further"
