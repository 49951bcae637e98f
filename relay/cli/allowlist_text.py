"""What `relay allowlist` says, as functions named after the situation. Standard library only."""

from __future__ import annotations


def counts(files: int, errors: int, warnings: int) -> str:
    """`1 file: 2 errors, 0 warnings`."""
    return f"{_count(files, 'file')}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"


def unreadable(name: str, why: str) -> str:
    return f"{name} cannot be read: {why}"


def unreadable_hint() -> str:
    return "name the file that the list is kept in, or - for standard input"


def no_address() -> str:
    return "this relay has no allowlist: RELAY_ALLOWLIST_URL is not set"


def no_address_hint() -> str:
    return "set it to the list's page on GitHub (.../blob/<ref>/<path>) or to file:<path>"


def not_read_hint() -> str:
    return "a running relay reads it; this command looks at its record, RELAY_DATABASE_URL"


def no_record(database: str) -> str:
    return f"no relay has read its allowlist yet: there is no record at {database}"


def unreadable_record(fault: str) -> str:
    return f"the record cannot be read ({fault})"


def summary(backends: int, read: str) -> str:
    """`4 backends, read 3 minutes ago`."""
    return f"{_count(backends, 'backend')}, read {read}"


def old_one(problem: str) -> str:
    return f"warning: a newer list is not in force: {problem}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
