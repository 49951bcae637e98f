"""An address keeps what it was given, names nothing usual, and quotes what it is made of."""

from __future__ import annotations

from relay.web.pages.switches import Given, address, github, switches


def test_a_change_keeps_the_other_parameters() -> None:
    given: Given = {"event": "nightly", "days": 30}
    assert address("/b", given, {"days": None}) == "/b?event=nightly"
    assert address("/b", given, {"page": 2}, "jobs") == "/b?event=nightly&days=30&page=2#jobs"
    assert address("/b", {"event": "", "days": 0}) == "/b"


def test_names_cannot_leave_their_place() -> None:
    assert address('/b/a?x=1#y/"<', {"q": "&z=1"}) == "/b/a%3Fx%3D1%23y/%22%3C?q=%26z%3D1"
    assert github("a/l2", "pull", 7) == "https://github.com/a/l2/pull/7"
    assert github("a/l2?x", "../..") == "https://github.com/a/l2%3Fx/..%2F.."


def test_one_switch_is_where_the_reader_is() -> None:
    options: list[tuple[str | int, str]] = [("", "7 days"), (1, "24 hours")]
    found = switches("/b", {"days": 0, "event": "nightly"}, "days", options)
    assert [(one.href, one.current) for one in found] == [
        ("/b?event=nightly", True),
        ("/b?days=1&event=nightly", False),
    ]
