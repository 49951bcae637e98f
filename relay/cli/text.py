"""Every sentence the command line says, as functions named after the situation.

Text that comes from upstream (titles, test ids, assertions) is cleaned by `relay.cli.output` before it is shown; the
functions here only put words around values. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

ABOUT = """Cross-repository CI relay with agentic test selection for out-of-tree PyTorch devices.

\b
Examples:
  relay up                      serve on this machine, with one worker
  relay run list --state running
  relay run watch 7 --exit-status
  relay select --repo ~/pytorch --base main --head HEAD
"""


def exit_codes(meanings: Iterable[tuple[int, str]]) -> str:
    """The end of `relay --help`."""
    return "\n".join(["\b", "Exit codes:", *(f"  {code:<5}{meaning}" for code, meaning in meanings)])


def did_you_mean(guess: str) -> str:
    return f" Did you mean '{guess}'?"


def unknown_state(given: str, guess: str, known: Iterable[str]) -> str:
    return f"there is no state '{given}'.{did_you_mean(guess) if guess else ''} States are: {', '.join(known)}."


def unknown_field(given: str, guess: str, known: Iterable[str]) -> str:
    return f"there is no field '{given}'.{did_you_mean(guess) if guess else ''} Fields are: {', '.join(known)}."


def no_fields_inside(field: str) -> str:
    return f"there are no fields inside the value before '.{field}'"


def fields_without_json() -> str:
    return "fields are chosen of JSON; add --json"


def quiet_and_verbose() -> str:
    return "it cannot say less and more at once; leave out one of --quiet and --verbose"


def asked(question: str) -> str:
    return f"{question} [y/N] "


def would_ask(question: str) -> str:
    return f"this would ask: {question}"


def would_ask_hint() -> str:
    return "say --yes when that is what you want"


def declined() -> str:
    return "nothing was done"


def bad_settings(problems: Sequence[str]) -> str:
    return "the settings are not usable: " + "; ".join(problems)


def bad_settings_hint() -> str:
    return "correct these variables"


def no_operator_token(url: str) -> str:
    return f"this needs the operator token of {url}"


def no_operator_token_hint() -> str:
    return "set RELAY_OPERATOR_TOKEN; on the machine of the service its value is printed by `relay token show --reveal`"


def no_worker_token() -> str:
    return "a worker needs the worker token of its relay"


def no_worker_token_hint() -> str:
    return "set RELAY_WORKER_TOKEN_FILE to a file with the token; the service's machine has one, see `relay token show`"


def no_such_run(run_id: int, url: str) -> str:
    return f"there is no run {run_id} at {url}"


def no_such_run_hint() -> str:
    return "`relay run list` shows the runs there are"


def no_runs() -> str:
    return "no runs match"


def no_runs_yet() -> str:
    return "there is no run yet"


def no_runs_yet_hint() -> str:
    return "a pull request webhook makes one; `relay demo` shows a whole run"


def more_runs(command: str) -> str:
    return f"older runs: {command}"


def watching(run_id: int, url: str) -> str:
    return f"run {run_id}: {url}"


def watch_interrupted(run_id: int) -> str:
    return f"the run goes on; `relay run watch {run_id}` looks again"


def still_pending(run_id: int, seconds: float) -> str:
    return f"run {run_id} is not finished after {seconds:g} s; `relay run watch {run_id}` waits on"


def next_step(command: str) -> str:
    return f"next: {command}"


def rerun_started(new: int, old: int) -> str:
    return f"run {new} repeats run {old}"


def failed_and_full() -> str:
    return "only one of these can be run again: all tests, the failed or the named; choose --full, --failed or --test"


def cancelled(run_id: int) -> str:
    return f"run {run_id} is cancelled"


def rerun_failed_command(run_id: int) -> str:
    return f"relay run rerun {run_id} --failed"


def rerun_command(run_id: int) -> str:
    return f"relay run rerun {run_id}"


def watch_command(run_id: int) -> str:
    return f"relay run watch {run_id}"


def view_command(run_id: int) -> str:
    return f"relay run view {run_id}"


def more_failures(shown: int, total: int, url: str) -> str:
    return f"{shown} of {total} failures shown, all of them: {url}"


def serving(url: str, workers: int) -> str:
    crew = "no worker" if workers == 0 else "1 worker" if workers == 1 else f"{workers} workers"
    return f"relay is up at {url} with {crew}; Ctrl-C stops it"


def serving_web(url: str) -> str:
    return f"the web part is up at {url}; Ctrl-C stops it"


def in_background() -> str:
    return "delivering and sweeping; Ctrl-C stops it"


def stopping() -> str:
    return "stopping"


def stopped() -> str:
    return "stopped"


def no_git() -> str:
    return "git is not installed"


def no_git_hint() -> str:
    return "install it (Debian, Ubuntu: apt install git)"


def not_a_checkout(path: str) -> str:
    return f"{path} is not a git checkout"


def not_a_checkout_hint() -> str:
    return "name one with --repo PATH"


def unknown_revision(revision: str, repo: str) -> str:
    return f"{repo} has no revision {revision}"


def unknown_revision_hint() -> str:
    return "fetch it first, or give another one"


def diff_does_not_apply(base: str, cause: str) -> str:
    return f"the diff does not apply to {base}: {cause}"


def diff_does_not_apply_hint() -> str:
    return "name the revision it was made against with --base"


def diff_not_readable(path: str, cause: str) -> str:
    return f"the diff {path} cannot be read: {cause}"


def diff_not_readable_hint() -> str:
    return "name a file that `git diff` wrote, or - for standard input"


def choose_a_change() -> str:
    return "say which change: --base REV (and --head REV), or --diff FILE"


def not_both_head_and_diff() -> str:
    return "--head and --diff exclude each other: a diff is applied to --base"


def no_manifest_folder(path: str) -> str:
    return f"there is no manifest folder {path}"


def no_manifest_folder_hint() -> str:
    return "set RELAY_MANIFEST_DIR; `relay select` also takes --manifests DIR, or --no-manifests"


def bad_manifests(count: int, first: str) -> str:
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"the manifests cannot be used: {first}{more}"


def bad_manifests_hint(folder: str) -> str:
    return f"`relay manifest check {folder}` lists every problem"


def tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def python_hint() -> str:
    return "install Python 3.11 or newer"


def program_hint(name: str) -> str:
    needed_for = {
        "git": "it reads upstream changes",
        "g++": "machines that run tests build the emulated device with it",
    }
    return f"{needed_for[name]}; Debian, Ubuntu: apt install {name}"


def program_fails(path: str, code: int) -> str:
    return f"{path} ends with {code}"


def torch_hint(series: str) -> str:
    return f"machines that run tests need torch {series}x: pip install 'oot-relay[emulator]'"


def will_be_made(what: str) -> str:
    return f"{what} (will be made at the first start)"


def not_writable(path: str) -> str:
    return f"{path} cannot be written"


def sandbox_hint() -> str:
    return "set RELAY_SANDBOX to auto, required or off; `python -m workers.runner.sandbox` says what it finds"


def state_folder_hint() -> str:
    return "set RELAY_STATE_DIR to a folder this user may write"


def database_hint() -> str:
    return "check RELAY_DATABASE_URL, and that the server runs"


def unreadable_database_url() -> str:
    return "RELAY_DATABASE_URL cannot be read"


def old_schema(url: str, revision: str | None) -> str:
    return f"{url} is at schema {revision or 'none'}, not the newest"


def old_schema_hint() -> str:
    return "`relay db upgrade` does that, and the next start of the service, unless RELAY_UPGRADE_ON_START is off"


def broker_hint() -> str:
    return "check RELAY_BROKER_URL, and that the server runs"


def manifests_found(folder: str, files: int) -> str:
    return f"{folder}: {files} upstream test files"


def offline_ranker() -> str:
    return "none configured, the offline ranker is used"


def no_transcript() -> str:
    return "set RELAY_LLM_TRANSCRIPT to a file that was recorded, or choose another RELAY_LLM_PROVIDER"


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def checks_failed(count: int) -> str:
    return f"{count} check failed" if count == 1 else f"{count} checks failed"


def token_source(source: str, present: bool) -> str:
    return source if present else f"{source} (not made yet)"


def not_installed() -> str:
    return "not installed"


def how_long_ago(when: datetime, now: datetime) -> str:
    """`3 minutes ago`; the time itself when it lies in the future of this clock."""
    seconds = (now - when).total_seconds()
    if seconds < 0:
        return when.isoformat(timespec="seconds")
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def how_long(seconds: float) -> str:
    """`4.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def service_has_old_manifests(address: str, problem: str) -> str:
    return f"{address}: {problem}"


def old_manifests_hint() -> str:
    return "correct the manifest; the service reads the folder again by itself"
