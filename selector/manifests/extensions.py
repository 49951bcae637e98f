"""The keys we add to a manifest, which the framework ignores and so still loads (`oot-manifests.md` 7.4).

Owns their types and what is a good value, the comparison of platforms, and what has expired. Every value is for
people or for our own runs; none of them changes what the framework does.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

MAX_REMARK_CHARACTERS = 500
MAX_TIMEOUT_S = 86_400.0

_ISSUE = re.compile(r"https?://\S+|(?:[\w.-]+/[\w.-]+)?#\d+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORDS = {True: "true", False: "false"}
#: Other names of machine architectures, as operating systems give them.
_ARCHITECTURES = {"arm64": "aarch64", "amd64": "x86_64", "x64": "x86_64"}


def _remark(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValueError("is blank; say something or leave the key out")
    if len(text) > MAX_REMARK_CHARACTERS:
        raise ValueError(f"more than {MAX_REMARK_CHARACTERS} characters; keep it short and link the rest in `issue`")
    return text


def _issue(text: str) -> str:
    if not _ISSUE.fullmatch(text) or len(text) > MAX_REMARK_CHARACTERS:
        raise ValueError("write a link, `owner/repository#12` or `#12` (in quotes, as `#` starts a comment)")
    return text


def _only_a_date(value: object) -> object:
    # Pydantic would take a number for seconds since 1970, and a time for its day.
    if type(value) is date or (isinstance(value, str) and _DATE.fullmatch(value)):
        return value
    raise ValueError("write a day as 2027-01-31")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _not_a_truth(value: object) -> object:
    # Pydantic would take `true` for one second; a word makes it say that a number is wanted.
    return _WORDS[value] if isinstance(value, bool) else value


Remark = Annotated[str, AfterValidator(_remark)]
IssueRef = Annotated[str, AfterValidator(_issue)]
Expiry = Annotated[date, BeforeValidator(_only_a_date)]
PlatformNames = Annotated[tuple[Remark, ...], BeforeValidator(_as_list)]
TimeoutSeconds = Annotated[float, BeforeValidator(_not_a_truth), Field(gt=0, le=MAX_TIMEOUT_S)]
SchemaVersion = Literal[1]


def is_for_platform(platforms: tuple[str, ...], platform: str) -> bool:
    """Whether an entry for these machine architectures applies on `platform`; without either it always does.

    A name stands for its family too, as in the framework's platform tags (2.7): `ppc64` holds on `ppc64le`.
    """
    return not platforms or not platform or any(_name(platform).startswith(_name(one)) for one in platforms)


def _name(platform: str) -> str:
    name = platform.strip().lower()
    return _ARCHITECTURES.get(name, name)
