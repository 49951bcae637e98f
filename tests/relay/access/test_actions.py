"""The audit log: written with what it tells of, read newest first, by who, what and which run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relay.access.actions import ActionFilter, Actor, list_actions, record_action
from relay.access_views import ActionPage, Via
from relay.store.engine import Store
from tests.relay.worker_story import arrive

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ME = Actor("me", None, Via.API, "request-1")
YOU = Actor("you", None, Via.PAGE, "request-2")


def page(store: Store, wanted: ActionFilter | None = None, *, limit: int = 10, before: int | None = None) -> ActionPage:
    with store.reading() as session:
        return list_actions(session, wanted or ActionFilter(), limit=limit, before=before)


def test_an_action_is_told_whole(store: Store) -> None:
    run_id = arrive(store)
    with store.writing() as session:
        record_action(session, YOU, "run.cancel", NOW, subject=f"run {run_id}", detail="why not", run_id=run_id)
    (told,) = page(store).actions
    assert (told.actor, told.via, told.action, told.request_id) == ("you", Via.PAGE, "run.cancel", "request-2")
    assert (told.subject, told.detail, told.run_id, told.at) == (f"run {run_id}", "why not", run_id, NOW)


def test_what_fails_leaves_no_row(store: Store) -> None:
    """The row is of the transaction of what it tells of."""

    def fail() -> None:
        with store.writing() as session:
            record_action(session, ME, "run.cancel", NOW)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert page(store).actions == ()


def test_filters_are_of_who_what_and_which_run(store: Store) -> None:
    run_id = arrive(store)
    with store.writing() as session:
        record_action(session, ME, "run.cancel", NOW, run_id=run_id)
        record_action(session, YOU, "run.rerun", NOW)
    for wanted in (ActionFilter(actor="me"), ActionFilter(action="run.cancel"), ActionFilter(run_id=run_id)):
        assert [action.actor for action in page(store, wanted).actions] == ["me"]
    assert page(store, ActionFilter(actor="me", action="run.rerun")).actions == ()


def test_the_list_goes_on_where_it_stopped(store: Store) -> None:
    with store.writing() as session:
        for number in range(5):
            record_action(session, ME, "run.rerun", NOW, subject=str(number))
    first = page(store, limit=3)
    rest = page(store, limit=3, before=first.next_before)
    assert [action.subject for action in first.actions + rest.actions] == ["4", "3", "2", "1", "0"]
    assert rest.next_before is None
