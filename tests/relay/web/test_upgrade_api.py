"""Upgrade reports over HTTP: published by operators, read by everybody, refused with a sentence."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import select

from relay.context import RelayContext
from relay.store.access_models import OperatorAction
from relay.upgrade.reading import REPORT_CAP, read_report
from relay.upgrade.views import ExecutionView, Published, UpgradePage, UpgradeTestPage, UpgradeView
from tests.relay.upgrade_story import BASE_COMMIT, HEAD_COMMIT, upgrade_report, upgrade_text

PATH = "/api/v1/upgrades"


def publish(client: TestClient, auth: dict[str, str], text: bytes, status: int = 201) -> Published:
    answer = client.post(PATH, content=text, headers=auth)
    assert answer.status_code == status, answer.text
    return Published.model_validate_json(answer.content)


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert isinstance(told, dict)
    return told


def test_a_report_is_published_once_and_read(
    client: TestClient, operator_auth: dict[str, str], context: RelayContext
) -> None:
    first = publish(client, operator_auth, upgrade_text())
    again = publish(client, operator_auth, upgrade_text(), 200)
    assert (first.repeated, again.repeated, again.upgrade) == (False, True, first.upgrade)
    with context.store.reading() as session:
        told = session.scalars(select(OperatorAction.subject).where(OperatorAction.action == "upgrade.publish")).all()
    assert told == [f"upgrade {first.upgrade.id} v2.13.0 to v2.14.0"]
    one = UpgradeView.model_validate_json(client.get(f"{PATH}/{first.upgrade.id}").content)
    assert one.upgrade == first.upgrade
    assert UpgradePage.model_validate_json(client.get(PATH).content).upgrades == (first.upgrade,)
    whole = client.get(f"{PATH}/{first.upgrade.id}/report.json")
    assert read_report(whole.content) == upgrade_report()
    assert "attachment" in whole.headers["Content-Disposition"]


def test_its_tests_come_by_pages_that_keep_their_filter(client: TestClient, operator_auth: dict[str, str]) -> None:
    number = publish(client, operator_auth, upgrade_text(120)).upgrade.id
    address: str | None = f"{PATH}/{number}/tests?duty=must&limit=5"
    seen: list[str] = []
    while address is not None:
        page = UpgradeTestPage.model_validate_json(client.get(address).content)
        seen += [test.test for test in page.tests]
        address = page.next
    assert len(seen) == len(set(seen)) == page.total == 12


def test_publishing_takes_an_operator(client: TestClient, worker_auth: dict[str, str]) -> None:
    assert problem(client.post(PATH, content=upgrade_text()), 401)["code"] == "unauthorized"
    assert problem(client.post(PATH, content=upgrade_text(), headers=worker_auth), 403)["code"] == "forbidden"
    assert client.get(PATH).json() == {"next": None, "upgrades": []}


def test_what_is_no_report_is_refused_with_what_is_wrong(client: TestClient, operator_auth: dict[str, str]) -> None:
    for body, said in (
        (b"", "the whole"),
        (b"[]", "the whole"),
        (upgrade_text().replace(b'"version":1', b'"version":2'), "version"),
        (upgrade_text().replace(b'"evidence":[0]', b'"evidence":[999]', 1), "there is no evidence 999"),
    ):
        told = problem(client.post(PATH, content=body, headers=operator_auth), 422)
        assert told["code"] == "bad_message"
        assert said in told["message"]
        assert "relay upgrade --json" in told["hint"]
    assert (
        problem(client.post(PATH, content=b" " * (REPORT_CAP + 1), headers=operator_auth), 413)["code"] == "too_large"
    )


def test_its_tests_are_run_on_both_releases(
    client: TestClient, operator_auth: dict[str, str], context: RelayContext
) -> None:
    number = publish(client, operator_auth, upgrade_text()).upgrade.id
    path = f"{PATH}/{number}/execution"
    assert "were not run" in problem(client.get(path), 404)["message"]
    assert problem(client.post(path), 401)["code"] == "unauthorized"
    answer = client.post(path, json={"duties": ["must"]}, headers=operator_auth)
    assert answer.status_code == 201, answer.text
    view = ExecutionView.model_validate_json(answer.content)
    assert (view.base.head_sha, view.head.head_sha, view.outcomes) == (BASE_COMMIT, HEAD_COMMIT, None)
    assert ExecutionView.model_validate_json(client.get(path).content) == view
    text = client.get(f"/upgrades/{number}").text
    assert f'href="/runs/{view.base.id}"' in text
    assert "once both runs have ended" in text
    with context.store.reading() as session:
        (detail,) = session.scalars(select(OperatorAction.detail).where(OperatorAction.action == "upgrade.run"))
    assert detail == f"must, as runs {view.base.id} and {view.head.id}"


def test_a_report_about_another_device_is_not_run_here(client: TestClient, operator_auth: dict[str, str]) -> None:
    number = publish(client, operator_auth, upgrade_text(device="quartz")).upgrade.id
    told = problem(client.post(f"{PATH}/{number}/execution", headers=operator_auth), 409)
    assert (told["code"], told["message"]) == (
        *("other_device", "The report is about quartz, and this relay serves spyre."),
    )


def test_a_report_that_is_not_there(client: TestClient) -> None:
    for path in ("7", "7/tests", "7/report.json", "7/execution"):
        assert problem(client.get(f"{PATH}/{path}"), 404)["message"] == "There is no upgrade report 7."
