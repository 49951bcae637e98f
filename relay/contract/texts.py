"""What every message is made of: numbers that are numbers, texts with a cap, ids that the record takes, and the
strictness of all messages."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict


def _no_stand_in(value: object) -> object:
    if isinstance(value, bool | str):
        raise ValueError("is no number")  # noqa: TRY004 - pydantic makes an answer of a ValueError alone
    return value


#: As JSON has them: true is no 1, and "1" is none either. `WHOLE` comes last, or the description loses the bounds.
WHOLE = BeforeValidator(_no_stand_in)
Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]

MESSAGE_CAP = 8_000
SHORT_CAP = 500
ShortText = Annotated[str, Field(max_length=SHORT_CAP)]
ID_CAP = 1_000
# PostgreSQL's index entries end near 2,700 bytes, and 1,000 characters can be longer than that in UTF-8.
_ID_BYTES = 2_000
TestIdText = Annotated[str, Field(min_length=1, max_length=ID_CAP)]
#: How long one test may take, by the wish of its manifest entry.
TimeoutSeconds = Annotated[Number, Field(gt=0, le=86_400, allow_inf_nan=False)]
OPERATORS_CAP = 500
OPERATOR_CAP = 200
OperatorName = Annotated[str, Field(min_length=1, max_length=OPERATOR_CAP)]


def can_be_recorded(test_id: str) -> bool:
    """Whether the record takes a test id. Upstream makes ids of parameters, which can be any text of any length."""
    try:
        size = len(test_id.encode())
    except UnicodeEncodeError:
        return False
    return 0 < len(test_id) <= ID_CAP and size <= _ID_BYTES and "\0" not in test_id


class Message(BaseModel):
    """Frozen, and strict about keys: a misspelt field between two of our own programs is a bug, not an extension."""

    model_config = ConfigDict(frozen=True, extra="forbid")
