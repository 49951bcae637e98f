"""What is wrong with the value of an option that several commands share. Standard library only, as `text.py`."""

from __future__ import annotations


def no_web_address(given: str) -> str:
    return f"'{given}' is not a web address; write http://HOST:PORT or https://HOST"


def no_repository(given: str) -> str:
    return f"'{given}' is not a repository; write OWNER/NAME, for example pytorch/pytorch"


def no_record_number(given: str, largest: int) -> str:
    return f"'{given}' is not a whole number from 1 to {largest}"


def no_words(length: int, most: int) -> str:
    return "it may not be empty" if not length else f"it may have {most} characters, no NUL; this has {length}"
