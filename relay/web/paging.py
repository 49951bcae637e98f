"""Where a list goes on: opaque cursors, and the link to the next page.

A route of a list takes `Paging`, asks its store for what comes after `paging.number(...)`, and gives its page back
through `paging.linked`, which fills the page's `next` and the header `Link`. A reader follows `next` as it is: it keeps
the filters of the question. What a cursor holds is ours to change, so it is checked like anything from outside.
Source of the header: https://www.rfc-editor.org/rfc/rfc8288
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response

from relay.errors import InvalidCursorError
from relay.views import Page

_CURSOR_CAP = 400
#: Beyond this no database column holds an id, and no list is that long.
LARGEST = 2**31 - 1
#: Older ways to say where a page begins; `next` does without them.
_OTHER_PLACES = frozenset({"cursor", "before", "after", "offset"})

Key = Sequence[int | str]
_Page = TypeVar("_Page", bound=Page)

CursorParameter = Annotated[
    str | None,
    Query(
        max_length=_CURSOR_CAP,
        pattern="^[A-Za-z0-9_-]*$",
        description="Where the page begins: part of `next` of the page before. Leave it out for the first page.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=500, description="At most so many in one page")]
#: The places that came before cursors. They go on working.
Before = Annotated[int | None, Query(ge=1, le=LARGEST, deprecated=True, description="Use `cursor`: only older ones")]
Offset = Annotated[int, Query(ge=0, le=LARGEST, deprecated=True, description="Use `cursor`: leave out so many")]


class Paging:
    """One request's place in a list."""

    def __init__(self, request: Request, response: Response, cursor: CursorParameter = None) -> None:
        self._request = request
        self._response = response
        self._cursor = cursor

    @property
    def given(self) -> bool:
        """Whether the request has a cursor; it then counts more than any older way to name a place."""
        return bool(self._cursor)

    def number(self, otherwise: int | None = None) -> int | None:
        """The place in a list that goes by one number; `otherwise` where the request has no cursor.

        Raises:
            InvalidCursorError: the cursor is not one of such a list.
        """
        return self.numbers(1)[0] if self.given else otherwise

    def numbers(self, count: int) -> tuple[int, ...]:
        """The place in a list that goes by `count` numbers. Raises InvalidCursorError."""
        key = _decoded(self._cursor or "")
        numbers = tuple(part for part in key if isinstance(part, int) and 0 <= part <= LARGEST)
        if len(numbers) != count or len(key) != count:
            raise _no_cursor()
        return numbers

    def name(self) -> str:
        """The place in a list that goes by name. Raises InvalidCursorError."""
        key = _decoded(self._cursor or "")
        if len(key) != 1 or not isinstance(key[0], str) or "\0" in key[0]:
            raise _no_cursor()
        return key[0]

    def linked(self, page: _Page, *key: int | str | None) -> _Page:
        """The page with the way to the next one, which begins after `key`; a part that is None says that there is
        none."""
        known = [part for part in key if part is not None]
        if len(known) != len(key):
            return page
        kept = [(name, value) for name, value in self._request.query_params.multi_items() if name not in _OTHER_PLACES]
        address = f"{self._request.url.path}?{urlencode([*kept, ('cursor', encoded(known))])}"
        self._response.headers["Link"] = f'<{address}>; rel="next"'
        return page.model_copy(update={"next": address})


Paged = Annotated[Paging, Depends()]


def encoded(key: Key) -> str:
    """A place in a list as readers get it."""
    return base64.urlsafe_b64encode(json.dumps(list(key), separators=(",", ":")).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> Key:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        found = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise _no_cursor() from error
    if not isinstance(found, list) or not all(type(part) in (int, str) for part in found):
        raise _no_cursor()
    return found


def _no_cursor() -> InvalidCursorError:
    return InvalidCursorError(
        "The cursor is not one of this list.",
        "Follow `next` of a page as it is, or begin again without a cursor.",
    )
