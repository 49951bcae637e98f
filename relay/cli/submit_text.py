"""The words of `relay submit` and `relay callback`."""

from __future__ import annotations


def needs_wait() -> str:
    return "--test-results, --callback-url and --timeout say what to do with the end of the run, which --wait waits for"


def unreadable(file: str, cause: str) -> str:
    return f"{file} cannot be read: {cause}"


def not_a_dispatch(where: str, cause: str) -> str:
    return f"{where} holds no dispatch of a relay: {cause}"


def event_hint() -> str:
    return "give the file that GITHUB_EVENT_PATH names in a job that runs on repository_dispatch"


def submitted(run_id: int, repeated: bool) -> str:
    return f"Run {run_id} {'was opened for this dispatch before' if repeated else 'opened'}."


def nothing_to_run(note: str) -> str:
    return f"Nothing to run: {note or 'the dispatch asks for no test'}."


def reported(status: str, repeated: bool) -> str:
    return f"Reported {status} to the relay" + (", which knew it already." if repeated else ".")


def ignored(reason: str) -> str:
    told = f" ({reason})" if reason else ""
    return (
        f"The relay ignores this repository's reports{told}: is it in the allowlist at L2 or above, as written there?"
    )


def lost(status: str, cause: str) -> str:
    return f"The report {status} did not arrive: {cause}"


def gave_up(run_id: int, seconds: float) -> str:
    return f"Run {run_id} was cancelled: it had not ended after {seconds:g} s."


def interrupted(run_id: int) -> str:
    return f"Interrupted: run {run_id} is cancelled."
