"""Pages of lists: by number, with GitHub's `Link` header to the neighbours, or by cursor.

Source: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple, TypeVar

from fastapi import Query, Request, Response

MOST = 100
PageNumber = Annotated[int, Query(ge=1)]
PageSize = Annotated[int, Query(ge=1)]
_T = TypeVar("_T")


def page_of(items: Sequence[_T], page: int, per_page: int, request: Request, response: Response) -> Sequence[_T]:
    """One page; the answer gets the `Link` header when there are others. GitHub caps a page at 100 silently."""
    size = min(per_page, MOST)
    last = max(1, -(-len(items) // size))
    links = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    if page == 1:
        del links["prev"], links["first"]
    if page >= last:
        del links["next"], links["last"]
    if links:
        response.headers["Link"] = ", ".join(_link(request, rel, page=number) for rel, number in links.items())
    return items[(page - 1) * size : page * size]


class Pages(NamedTuple):
    """How a caller pages: what it asked for, and the answer whose `Link` header leads on."""

    cursor: str
    per_page: int
    request: Request
    response: Response


def from_cursor(items: Sequence[_T], number: Callable[[_T], int], pages: Pages) -> Sequence[_T]:
    """One page of items whose numbers fall. A cursor is the number of the next page's first item, so that what is new
    meanwhile moves no page."""
    begin = int(pages.cursor) if pages.cursor.isdecimal() else None
    left = [each for each in items if begin is None or number(each) <= begin]
    size = min(pages.per_page, MOST)
    if len(left) > size:
        pages.response.headers["Link"] = _link(pages.request, "next", cursor=number(left[size]))
    return left[:size]


def _link(request: Request, rel: str, **query: int) -> str:
    return f'<{request.url.include_query_params(**query)}>; rel="{rel}"'
