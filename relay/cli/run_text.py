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


def waits(run_id: int) -> str:
    return f"run {run_id} waits for a worker; its lines come as soon as one has it"


def no_lines(run_id: int) -> str:
    return f"run {run_id} has no such lines; `relay run logs {run_id} --events` shows what happened to it"


def nothing_failed(run_id: int) -> str:
    return f"nothing failed in the log of run {run_id}"


def no_such_shard(run_id: int, shard: int, known: list[int]) -> str:
    there = f"its shards are: {', '.join(map(str, known))}" if known else "it has none yet"
    return f"run {run_id} has no shard {shard}; {there}"


def log_and_log_failed() -> str:
    return "choose one of --log and --log-failed"


def events_have_no_shard() -> str:
    return "events are those of the whole run; leave out --shard and --attempt"


def no_logs_there(url: str) -> str:
    return f"the relay at {url} keeps no logs"


def no_logs_there_hint() -> str:
    return "it is of an older version; `--events` shows what happened to the run"
