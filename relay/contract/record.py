"""What a worker asks the relay's record about: operators that tests used, and how tests ended before."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from relay.contract.texts import ID_CAP, OPERATORS_CAP, WHOLE, Message, Number, OperatorName, ShortText


class OperatorsAsked(Message):
    """Body of `POST /api/v1/worker/operators`: which tests were seen to use these operators on the device?"""

    device: ShortText
    operators: tuple[OperatorName, ...] = Field(max_length=OPERATORS_CAP)


class OperatorUses(Message):
    """An operator without overload (`aten::add`), and the base tests that used it. `tests` is empty where `total` is
    too large to be told: what everything uses says nothing about a change."""

    operator: OperatorName
    tests: tuple[str, ...]
    total: Annotated[int, Field(ge=0), WHOLE]


class ObservedOperators(Message):
    """The answer: the operators asked for that were seen at all, rarest first."""

    operators: tuple[OperatorUses, ...]


PAST_FILES_CAP = 5_000
PAST_PATHS_CAP = 1_000
PathText = Annotated[str, Field(max_length=ID_CAP)]


class PastAsked(Message):
    """Body of `POST /api/v1/worker/past`: how long did the tests of these files take on the device, and how did tests
    end when these paths changed, or in the last run of this pull request (of another version than `head_sha`)?"""

    device: ShortText
    files: tuple[PathText, ...] = Field(default=(), max_length=PAST_FILES_CAP)
    paths: tuple[PathText, ...] = Field(default=(), max_length=PAST_PATHS_CAP)
    repo: str = Field(default="", max_length=200, pattern=r"^[^\x00]*$")
    pr_number: Annotated[int, Field(ge=0, lt=2**31), WHOLE] | None = None
    head_sha: str = Field(default="", pattern=r"^([0-9a-f]{40})?$")


class TestSeconds(Message):
    """The seconds of a base test, summed over its variants."""

    __test__ = False
    file: str
    test: str
    seconds: Number = Field(ge=0, allow_inf_nan=False)


class FailedLast(Message):
    """A base test that an earlier version of the pull request broke, and a sentence that says when."""

    test: str
    evidence: str


class BrokenWith(Message):
    """A base test that changes of `path` broke; `strength` is the sum over those changes of 1/(files changed)."""

    path: str
    test: str
    strength: Number = Field(gt=0, allow_inf_nan=False)


class MissedWith(Message):
    """A base test that a selection once left out although a change of `path` broke it, and when that was."""

    path: str
    test: str
    evidence: str


class Past(Message):
    """The answer, each in order: the tests that passed in one of the last runs, and those that failed."""

    durations: tuple[TestSeconds, ...] = ()
    failed_last: tuple[FailedLast, ...] = ()
    failed_with: tuple[BrokenWith, ...] = ()
    missed_with: tuple[MissedWith, ...] = ()
