"""What an operator can do with a run stands on its page, each with the command that does the same, and is done by a
confirmed form."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, select

from relay.access.sign_ins import SIGNED_IN_FOR
from relay.access.tokens import create_token
from relay.access_views import Scope
from relay.context import RelayContext
from relay.contract import Observation
from relay.runs.queries import run_summary
from relay.store.models import Run
from relay.views import RunState
from relay.web.access_words import run_actions
from tests.relay.web.signing_in import form_token, send_form, sign_in
from tests.relay.web.test_operator_api import _finished
from tests.relay.worker_story import arrive
from tests.setups import wake_ups


def state_of(context: RelayContext, run_id: int) -> RunState:
    with context.store.reading() as session:
        return session.get_one(Run, run_id).state


def selects(asked: list[str]) -> int:
    return sum(statement.startswith("SELECT") for statement in asked)


def newest(context: RelayContext) -> Run:
    with context.store.reading() as session:
        return session.scalars(select(Run).order_by(Run.id.desc()).limit(1)).one()


def test_without_a_sign_in_there_are_commands_and_the_way_to_sign_in(client: TestClient, context: RelayContext) -> None:
    run_id = _finished(context, Observation.FAILED, Observation.PASSED)
    page = client.get(f"/runs/{run_id}").text
    for command in (f"relay run rerun {run_id} --failed", f"relay run rerun {run_id} --full"):
        assert f"<code data-copy>{command}</code>" in page
    assert f'href="/sign-in?next=/runs/{run_id}"' in page
    assert 'method="post"' not in page


def test_an_operator_has_a_confirmed_form_for_each(client: TestClient, context: RelayContext) -> None:
    """The button is inside what has to be opened first, with what it will do."""
    run_id = _finished(context, Observation.FAILED, Observation.PASSED)
    sign_in(client)
    section = client.get(f"/runs/{run_id}").text.partition('id="operate"')[2].partition("</section>")[0]
    assert section.count("<details") == section.count("<form") == section.count("<button") == 3
    assert section.index("Run the failed tests again") < section.index("Yes, run 1 test again")
    assert "A new run of the same change, with the 1 test that did not end well." in section
    assert "onclick" not in section


def test_the_failed_tests_run_again(client: TestClient, context: RelayContext, operator_auth: dict[str, str]) -> None:
    """A new run, its page, a wake-up, and a line in the audit log."""
    run_id = _finished(context, Observation.FAILED, Observation.PASSED)
    sign_in(client)
    answer = send_form(client, f"/runs/{run_id}", f"/runs/{run_id}/rerun", what="failed")
    run = newest(context)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/runs/{run.id}")
    assert (run.rerun_of, len(run.only)) == (run_id, 1)
    assert wake_ups(context.settings.broker_url, "spyre") == 1
    told = client.get("/api/v1/actions?action=run.rerun", headers=operator_auth).json()["actions"]
    assert [(one["actor"], one["via"], one["subject"], one["run_id"]) for one in told] == [
        ("operator (settings)", "page", f"run {run_id}", run_id)
    ]
    assert told[0]["detail"] == f"the failed tests, as run {run.id}"


@pytest.mark.parametrize(("what", "full"), [("same", ""), ("full", "an operator asked for every test"), ("odd", "")])
def test_all_of_it_runs_again(client: TestClient, context: RelayContext, what: str, full: str) -> None:
    run_id = _finished(context, Observation.PASSED)
    sign_in(client)
    assert send_form(client, f"/runs/{run_id}", f"/runs/{run_id}/rerun", what=what).status_code == 303
    run = newest(context)
    assert (run.rerun_of, run.only, run.full) == (run_id, [], full)


def test_an_unfinished_run_is_cancelled(client: TestClient, context: RelayContext) -> None:
    run_id = arrive(context.store)
    sign_in(client)
    page = client.get(f"/runs/{run_id}").text
    assert f"Yes, cancel run {run_id}" in page
    assert "Run every test" not in page
    answer = send_form(client, f"/runs/{run_id}", f"/runs/{run_id}/cancel")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/runs/{run_id}")
    assert state_of(context, run_id) is RunState.CANCELLED


def test_a_form_that_no_page_of_ours_made_changes_nothing(client: TestClient, context: RelayContext) -> None:
    """Without its token, with another's, or sent by another site."""
    run_id = arrive(context.store)
    sign_in(client)
    token = form_token(client.get(f"/runs/{run_id}").text)
    path = f"/runs/{run_id}/cancel"
    assert client.post(path).status_code == 403
    assert client.post(path, data={"form_token": "0" * 64}).status_code == 403
    foreign = client.post(path, data={"form_token": token}, headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert "This form was not made for you" in foreign.text
    assert state_of(context, run_id) is not RunState.CANCELLED


def test_who_is_not_signed_in_any_more_is_led_back_to_the_run(client: TestClient, context: RelayContext) -> None:
    run_id = arrive(context.store)
    sign_in(client)
    token = form_token(client.get(f"/runs/{run_id}").text)
    late = context.now() + SIGNED_IN_FOR + timedelta(seconds=1)
    object.__setattr__(context, "now", lambda: late)
    answer = client.post(f"/runs/{run_id}/cancel", data={"form_token": token}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next=%2Fruns%2F{run_id}")
    assert state_of(context, run_id) is not RunState.CANCELLED


def test_who_may_only_read_is_told_so_and_refused(client: TestClient, context: RelayContext) -> None:
    run_id = arrive(context.store)
    with context.store.writing() as session:
        new = create_token(session, "<b>reader</b>", Scope.READ, context.now(), expires_at=None, created_by="me")
    sign_in(client, new.token)
    page = client.get(f"/runs/{run_id}").text
    assert "You are signed in as &lt;b&gt;reader&lt;/b&gt;, who may read." in page
    assert "Yes, cancel" not in page
    answer = client.post(f"/runs/{run_id}/cancel", data={"form_token": form_token(page)})
    assert answer.status_code == 403
    assert state_of(context, run_id) is not RunState.CANCELLED


def test_what_does_not_fit_the_run_is_told_as_a_page(client: TestClient, context: RelayContext) -> None:
    """With the way out; and a run that never was is not found."""
    run_id = arrive(context.store)
    sign_in(client)
    answer = send_form(client, f"/runs/{run_id}", f"/runs/{run_id}/rerun", what="failed")
    assert answer.status_code == 409
    assert f"Run {run_id} is not finished yet" in answer.text
    assert f"relay run cancel {run_id}" in answer.text
    for odd in ("77", "x", "0", "99999999999"):
        assert send_form(client, f"/runs/{run_id}", f"/runs/{odd}/cancel").status_code == 404


def test_being_signed_in_costs_one_query(client: TestClient, context: RelayContext) -> None:
    run_id = _finished(context, Observation.PASSED)
    asked: list[str] = []
    event.listen(context.store.engine, "before_cursor_execute", lambda _c, _k, statement, *_: asked.append(statement))
    client.get(f"/runs/{run_id}")
    anonymous = selects(asked)
    sign_in(client)
    asked.clear()
    client.get(f"/runs/{run_id}")
    assert selects(asked) == anonymous + 1


def test_the_likeliest_action_comes_first(client: TestClient, context: RelayContext) -> None:
    for seen, first in ((Observation.FAILED, "rerun-failed"), (Observation.PASSED, "rerun")):
        run_id = _finished(context, seen)
        with context.store.reading() as session:
            assert run_actions(run_summary(session, run_id, ""))[0].key == first
