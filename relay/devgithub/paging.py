"""Pages of lists: by number, with GitHub's `Link` header to the neighbours, or by cursor.

Source: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

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


def after_cursor(items: Sequence[_T], cursor: str, per_page: int, request: Request, response: Response) -> Sequence[_T]:
    """One page from a cursor on, which is the number of items before it; the `Link` header names the next one."""
    begin = int(cursor) if cursor.isdecimal() else 0
    end = begin + min(per_page, MOST)
    if end < len(items):
        response.headers["Link"] = _link(request, "next", cursor=end)
    return items[begin:end]


def _link(request: Request, rel: str, **query: int) -> str:
    return f'<{request.url.include_query_params(**query)}>; rel="{rel}"'
