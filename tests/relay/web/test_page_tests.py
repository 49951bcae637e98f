"""The page of a test answers whose failure it is, since when, and who to ask, and never trusts a text."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.context import RelayContext
from relay.contract import Observation
from relay.settings import RelaySettings
from tests.relay.runs.test_histories import OTHER, TEST, failed, pulled, pushed
from tests.relay.stories import Story, ended, flaked, passed, planned, regressed, report_of
from tests.relay.web.test_pages import HOSTILE, Outline, in_order, page

pytestmark = pytest.mark.both_setups

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_nn.py
      unlisted_test_mode: mandatory_success
      tests:
        - names: [TestNN::test_linear]
          mode: xfail
          reason: rounding of the device
          owner: "module: nn <b>"
"""


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store, now=context.now())


def address(test: str = TEST, **more: str) -> str:
    return f"/tests?id={quote(test)}" + "".join(f"&{name}={quote(value)}" for name, value in more.items())


def test_a_failure_of_the_branch_has_its_age_first_bad_and_last_good(client: TestClient, story: Story) -> None:
    good = pushed(story, "a", passed(TEST))
    bad = pushed(story, "b", failed())
    pushed(story, "c", failed())
    found = page(client, address())
    in_order(found.text, "failing", "test_linear__float32", "Fails on the branch since", "2 runs tell so")
    in_order(found.text, "Failing since", f"run {bad}", "First bad change", "b" * 10, "Last good", f"run {good}")
    assert found.having("a", href=f"/commits/{'b' * 40}")
    assert found.having("a", href=f"https://github.com/pytorch/pytorch-like/compare/{'a' * 40}...{'b' * 40}")
    in_order(found.text, "Last words", "boom")


def test_what_a_change_breaks_is_told_from_the_branch(client: TestClient, story: Story) -> None:
    pushed(story, "a", passed(TEST))
    pulled(story, 31, regressed(TEST, "boom"))
    found = page(client, address())
    in_order(found.text, "broken by a change", "Fine on the branch, in 2 of the 2 runs that tell; broken by #31")
    in_order(found.text, "Changes that break it", "#31")
    assert found.having("a", href="/pulls/31")
    pulled(story, 31, passed(TEST))
    in_order(page(client, address()).text, "Changes that break it", "none in these runs")


def test_the_strip_goes_from_old_to_new_with_a_glyph_and_words_for_each_run(client: TestClient, story: Story) -> None:
    runs = [pushed(story, "a", passed(TEST)), pushed(story, "b", flaked(TEST, "once")), pulled(story, 7, failed())]
    found = page(client, address())
    labels = [link["aria-label"] or "" for link in found.having("a") if link.get("aria-label")]
    assert [label.split(",")[0] for label in labels] == [
        f"run {runs[0]}: ok",
        f"run {runs[1]}: flaky",
        f"run {runs[2]}: regression",
    ]
    assert "#7" in labels[2]
    assert found.having("a", href=f"/runs/{runs[2]}?verdict=regression#results")
    assert "flake 1/3" in found.text
    assert "Both fine and failing on 1 of 3 commits" in found.text


def test_durations_are_a_line_that_is_said_in_words_too(client: TestClient, story: Story) -> None:
    pushed(story, "a", passed(TEST))
    assert not page(client, address()).having("polyline")
    pushed(story, "b", flaked(TEST, "once"))
    found = page(client, address())
    (drawn,) = found.having("svg", role="img")
    assert drawn["aria-label"] == "0.2 s to 0.5 s in 2 runs, median 0.4 s, last 0.5 s"
    assert drawn["aria-label"] in found.text
    assert len((found.having("polyline")[0]["points"] or "").split()) == 2


def test_the_manifest_names_owner_reason_and_line(client: TestClient, story: Story, settings: RelaySettings) -> None:
    (settings.manifest_dir / "nn.yaml").write_text(MANIFEST)
    pushed(story, "a", failed())
    text = page(client, address()).text
    in_order(text, "Owner", "module: nn <b>", "Manifest", "nn.yaml:6", "xfail", "listed", "rounding of the device")
    in_order(text, "In its last run", "demo.yaml:12")
    assert "names no owner" in page(client, address(OTHER)).text


def test_without_manifests_the_last_plan_is_told(client: TestClient, story: Story) -> None:
    pushed(story, "a", passed(TEST))
    in_order(page(client, address()).text, "Manifest", "No manifest lists this file now", "demo.yaml:12")


def test_long_histories_are_paged_by_run(client: TestClient, story: Story) -> None:
    runs = [pulled(story, number, passed(TEST)) for number in range(1, 63)]
    first = page(client, address())
    assert not first.having("a", href=f"/runs/{runs[1]}?verdict=ok#results")
    (older,) = first.having("a", rel="next")
    second = page(client, older["href"] or "")
    assert second.having("a", href=f"/runs/{runs[1]}?verdict=ok#results")
    assert not second.having("a", href=f"/runs/{runs[2]}?verdict=ok#results")
    assert "in 62 runs" in second.text
    (newest,) = second.having("a", rel="prev")
    assert newest["href"] == address()


def test_the_list_starts_with_what_broke_and_is_searched(client: TestClient, story: Story) -> None:
    assert "No test broke or flaked there" in page(client, "/tests").text
    pushed(story, "a", failed())
    found = page(client, "/tests")
    assert found.having("a", href=f"/tests?id={quote(TEST)}")
    assert "_other" not in found.text
    searched = page(client, "/tests?q=_OTHER")
    assert searched.having("a", href=f"/tests?id={quote(OTHER)}")
    assert "No test there has this in its id" in page(client, "/tests?q=nothing").text


def test_an_unknown_id_is_a_404_that_leads_on(client: TestClient, story: Story) -> None:
    pushed(story, "a", failed())
    answer = client.get(address(f"test/moved.py::TestNN::{TEST.rpartition('::')[2]}"))
    assert answer.status_code == 404
    found = Outline(answer.text)
    in_order(found.text, "No run planned this test", "test/moved.py::TestNN")
    assert found.having("a", href=f"/tests?id={quote(TEST)}")
    assert client.get(address(TEST, device="other")).status_code == 404


@pytest.mark.parametrize("more", [{"before": "x"}, {"before": "0"}, {"before": "9" * 30}])
def test_an_odd_address_is_still_a_page(client: TestClient, story: Story, more: dict[str, str]) -> None:
    pushed(story, "a", failed())
    assert "Fails on the branch" in page(client, address(**more)).text


@pytest.mark.parametrize("test", ["\0", "x" * 5_000, "::", "%", "'; DROP TABLE tests"])
def test_an_odd_id_is_an_answer(client: TestClient, test: str) -> None:
    assert client.get("/tests", params={"id": test}).status_code == 404


def test_untrusted_text_is_never_markup_nor_a_command(client: TestClient, story: Story) -> None:
    test = f"test/x.py::T::test_'$(touch x)'{HOSTILE}"
    story.open(title=HOSTILE)
    hostile = planned(test).model_copy(update={"rule": HOSTILE, "provenance": HOSTILE})
    story.select(report_of([[hostile]]))
    story.run_all({test: ended(test, Observation.FAILED, HOSTILE)})
    for path in (address(test), "/tests", f"/tests?q={quote(HOSTILE[:100])}", address(f"{test}x")):
        found = Outline(client.get(path).text)
        assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
        assert not found.having("img")
        assert all("style" not in attributes for _, attributes in found.elements)
        assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    assert "relay why 'test/x.py::T::test_'\"'\"'$(touch x)'\"'\"'" in page(client, address(test)).text


def test_history_is_json_too(client: TestClient, story: Story) -> None:
    bad = pushed(story, "a", failed())
    answer = client.get("/api/v1/tests/history", params={"id": TEST})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["test"], body["outcomes"][0]["run_id"], body["outcomes"][0]["on_branch"]) == (TEST, bad, False)
    assert body["failing"]["first_bad"]["head_sha"] == "a" * 40
    assert body["flakes"]["commits"] == 1
    assert page(client, address()).having("a", href=f"/api/v1{address().replace('/tests?', '/tests/history?')}")


@pytest.mark.parametrize(("query", "status"), [("", 422), ("?id=", 422), ("?id=nobody", 404), ("?id=%00", 404)])
def test_history_refuses_what_it_does_not_know(client: TestClient, query: str, status: int) -> None:
    answer = client.get(f"/api/v1/tests/history{query}")
    assert answer.status_code == status
    assert answer.json()["message"]


def test_a_longer_page_takes_no_more_queries(client: TestClient, story: Story, context: RelayContext) -> None:
    pulled(story, 1, regressed(TEST, "boom"))
    few = queries(context, lambda: client.get(address()))
    for number in range(2, 8):
        pulled(story, number, regressed(TEST, "boom"))
    assert queries(context, lambda: client.get(address())) == few <= 6


def queries(context: RelayContext, act: Callable[[], object]) -> int:
    """How many statements the record is asked while `act` runs."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(context.store.engine, "before_cursor_execute", note)
    act()
    event.remove(context.store.engine, "before_cursor_execute", note)
    return len(seen)
