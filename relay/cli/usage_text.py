"""The sentences about a command line that is wrong. Standard library only, as `text.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence


def did_you_mean(guesses: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(repr(guess) for guess in guesses)}?"


def no_such_option(given: str) -> str:
    return f"No such option: {given}"


def belongs_after(option: str, path: str) -> str:
    return f"It belongs to a command: write {option} after it, `{path} COMMAND {option}`"


def usage_hint(command: str) -> str:
    return f"`{command} --help` shows how it is used"


#: What the library that reads options says of a wrong value, and what it means.
_VALUES = (
    (r"Input should be a valid integer.*", "it has to be a whole number"),
    (r"Input should be a valid number.*", "it has to be a number"),
    (r"Input should be less than or equal to (\S+)", r"it has to be \1 or less"),
    (r"Input should be greater than or equal to (\S+)", r"it has to be \1 or more"),
    (r"Input should be a valid boolean.*", "it has to be 1 or 0"),
    (r"Value error, ", ""),
)


def in_our_words(message: str) -> str:
    """A usage error without the words of a library."""
    for theirs, ours in _VALUES:
        message = re.sub(theirs, ours, message)
    return message
