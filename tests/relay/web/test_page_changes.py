"""The page of a change says whether it is broken and by whom, shows why each test ran, and never trusts a text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from relay.assembly import crcr_parts
from relay.context import RelayContext
from relay.contract import FilteredTest, Observation
from relay.hud.recording import record_result
from relay.settings import RelaySettings
from tests.conftest import OPERATOR_TOKEN, WEBHOOK_SECRET, WORKER_TOKEN
from tests.relay.hud.reports import envelope, pull
from tests.relay.runs.test_changes import HEAD, TESTS, again, repeat, told
from tests.relay.runs.test_histories import TEST, pushed
from tests.relay.stories import (
    REPO,
    Story,
    base_of,
    dropped,
    ended,
    kept,
    known,
    passed,
    planned,
    reason,
    regressed,
    report_of,
)
from tests.relay.web.test_page_tests import queries
from tests.relay.web.test_pages import HOSTILE, Outline, in_order, page


@pytest.fixture
def settings(tmp_path: Path) -> RelaySettings:
    """Settings of a relay whose upstream is the repository of the stories."""
    manifest_dir = tmp_path / "manifests"
    manifest_dir.mkdir()
    return RelaySettings(
        state_dir=tmp_path / "state",
        manifest_dir=manifest_dir,
        upstream_repo=REPO,
        worker_token=SecretStr(WORKER_TOKEN),
        operator_token=SecretStr(OPERATOR_TOKEN),
        webhook_secret=SecretStr(WEBHOOK_SECRET),
    )


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store, now=context.now())


def reported(context: RelayContext, status: str, *, sha: str = HEAD, number: int = 7, **more: object) -> None:
    """A job of a backend, as its relay forwarded it."""
    with context.store.writing() as session:
        payload = pull(number, sha, REPO)
        record_result(session, envelope(status, payload=payload, delivery=sha, **more), context.now())  # type: ignore[arg-type]  # the keys of a report


def test_the_verdict_comes_first_then_new_flaky_fixed_and_known(client: TestClient, story: Story) -> None:
    run = told(story)
    found = page(client, "/pulls/7")
    in_order(
        found.text,
        *("failure", "This change breaks 2 tests of 10 on spyre; 2 known to fail, 1 flaky, 2 fixed."),
        *("2 new", "boom", "crash", "flaky", "fixed", "known", "fine 3: show them"),
        *("Compared with the base", "Tests left out", "Runs of this change"),
    )
    assert len(found.having("h1")) == 1
    assert found.having("a", href=f"/runs/{run}")
    assert f"relay run rerun {run} --failed" in found.text
    assert f"relay run rerun {run} --test {TESTS[0]}" in found.text


def test_a_change_that_breaks_nothing_says_so_with_counts(client: TestClient, story: Story) -> None:
    story.open(pr=7)
    story.select(report_of([[planned(test) for test in TESTS]]))
    story.run_all({TESTS[0]: known(TESTS[0], "as before")})
    in_order(
        page(client, "/pulls/7").text,
        *("success", "Nothing breaks with this change on spyre: 9 of 10 tests fine; 1 known to fail."),
    )


def test_what_ran_again_is_counted_in(client: TestClient, story: Story) -> None:
    run = told(story)
    repeat(story, run, {}, *TESTS[:3])
    text = page(client, "/pulls/7").text
    in_order(text, "success", "Nothing breaks with this change", "3 flaky", "Counted with 1 run of single tests again")


def test_every_test_has_its_reasons_and_leads_to_its_history(client: TestClient, story: Story) -> None:
    story.open(pr=7)
    chain = (reason(2, "imports", "imports torch.functional", 0.8), reason(4, "listed", "demo.yaml:12"))
    story.select(report_of([[planned(TESTS[0])]], decisions=[kept(base_of(TESTS[0]), *chain)]))
    story.run_all({TESTS[0]: regressed(TESTS[0], "boom")})
    found = page(client, "/pulls/7")
    in_order(
        found.text, "boom", "Why it ran", "imports torch.functional", "4 manifests", "Expected", "base 1:", "passed"
    )
    (link,) = found.having("a", href=f"/tests?id={TESTS[0].replace(':', '%3A')}")
    assert page(client, link["href"] or "")


@pytest.fixture
def quartz(context: RelayContext, tmp_path: Path) -> Story:
    """A second device of the same relay, with an entry in the allowlist."""
    (tmp_path / "allowlist.yml").write_text("L3:\n  quartz:\n    acme/quartz: [someone]\n")
    given = context.settings.model_copy(update={"allowlist_url": f"file:{tmp_path / 'allowlist.yml'}"})
    object.__setattr__(context, "crcr", crcr_parts(given, context.store, context.now))
    second = replace(context.backends[0], device="quartz", allowlist="acme/quartz")
    object.__setattr__(context, "backends", (*context.backends, second))
    return Story(context.store, now=context.now(), device="quartz")


def test_two_devices_have_two_verdicts_on_one_page(client: TestClient, story: Story, quartz: Story) -> None:
    """The worst of them comes first, and the page goes on with the tests of one, which the address chooses."""
    first, second = told(story), quartz.open(pr=7, head=HEAD)
    found = page(client, "/pulls/7")
    in_order(found.text, "failure", "spyre: 2 tests of 10 broken; quartz: no answer yet", "By device", "received")
    assert (found.having("main")[0]["data-events"] or "").startswith("/api/v1/events?after=")
    quartz.select(report_of([[planned(TESTS[0])]]))
    quartz.run_all({})
    found = page(client, "/pulls/7")
    in_order(
        found.text,
        *("failure", "spyre: 2 tests of 10 broken; quartz: nothing breaks of 1 test", "By device", "2 tested on"),
        *("spyre", "This change breaks 2 tests of 10 on spyre", f"run {first}", "its tests are below"),
        *("acme/quartz", "L3", "Nothing breaks with this change on quartz", f"run {second}", "its tests"),
        *("Tests on spyre", "boom", "Runs of this change on spyre"),
    )
    assert "data-events" not in found.having("main")[0]
    (link,) = found.having("a", href="/pulls/7?device=quartz#tests")
    other = page(client, link["href"] or "")
    in_order(other.text, "spyre: 2 tests of 10 broken; quartz: nothing breaks", "Tests on quartz", "fine 1: show them")
    assert other.having("a", href="/pulls/7?device=quartz&group=fine#tests")
    assert "boom" not in other.text


def test_base_is_compared_in_a_table(client: TestClient, story: Story) -> None:
    told(story)
    text = page(client, "/pulls/7").text
    in_order(text, "3 tests ran on the base as well, 1 of them known from an earlier run of the same base")
    in_order(text, "fails with the change", "1 broken", "1 as before", "fine with the change", "0 as before", "1 fixed")


def test_tests_left_out_are_searched_and_paged_with_their_reasons(client: TestClient, story: Story) -> None:
    story.open(pr=7)
    left = [dropped(f"test/test_nn.py::TestNN::test_{number}") for number in range(60)]
    held = [FilteredTest(id=f"{TESTS[0]}_f16", base=base_of(TESTS[0]), rule="dtype_unsupported", provenance="d.yaml:3")]
    story.select(report_of([[planned(TESTS[0])]], left_out=left, filtered=held))
    story.run_all({})
    first = page(client, "/pulls/7")
    in_order(first.text, "60 not chosen", "stage 3 triage: below the cut", "1 kept from running", "dtype_unsupported")
    (following,) = first.having("a", rel="next")
    assert following["href"] == "/pulls/7?left=1#left-out"
    assert "test_59" in page(client, following["href"] or "").text
    found = page(client, "/pulls/7?q=TestNN::test_42")
    in_order(found.text, "1 not chosen", "owner label")
    assert "No test that was left out has" in page(client, "/pulls/7?q=no-such-test").text


def test_one_group_is_paged_by_its_address(client: TestClient, story: Story) -> None:
    story.open(pr=7)
    many = [f"{TESTS[0]}_many{number:03}" for number in range(120)]
    story.select(report_of([[planned(test) for test in many]]))
    story.run_all({test: regressed(test, "boom") for test in many})
    overview = page(client, "/pulls/7")
    assert "many049" in overview.text
    assert "many050" not in overview.text
    assert overview.having("a", href="/pulls/7?group=new#tests")
    first = page(client, "/pulls/7?group=new")
    assert "many099" in first.text
    (following,) = first.having("a", rel="next")
    second = page(client, following["href"] or "")
    assert "many119" in second.text
    assert "many099" not in second.text
    assert not second.having("a", rel="next")


def test_the_runs_stand_by_commit_the_newest_first(client: TestClient, story: Story) -> None:
    first = story.open(pr=7, head="1" * 40)
    second = told(story)
    third = again(story, second)
    found = page(client, "/pulls/7")
    runs = found.text.split("Runs of this change")[1]
    in_order(runs, HEAD[:10], "newest", f"run {third}", f"rerun of {second}", f"run {second}", "1" * 10, f"run {first}")
    assert found.having("a", href=f"/commits/{'1' * 40}")


def test_a_commit_has_a_page_with_its_pull_request(client: TestClient, story: Story) -> None:
    told(story)
    pushed(story, "c", passed(TEST))
    story.open(pr=7, head="1" * 40)
    for name in (HEAD, HEAD[:8]):
        found = page(client, f"/commits/{name}")
        assert "This change breaks 2 tests" in found.text
        assert found.having("a", href="/pulls/7")
    text = page(client, f"/commits/{'c' * 40}").text
    in_order(text, "Nothing breaks with this change", "Commit c")
    assert "all its commits" not in text


def test_a_running_change_listens_and_a_finished_one_does_not(client: TestClient, story: Story) -> None:
    run = story.open(pr=7)
    found = page(client, "/pulls/7")
    assert (found.having("main")[0]["data-events"] or "").startswith(f"/api/v1/runs/{run}/events?after=")
    in_order(found.text, "Waiting", "Look again", "Compute it in fewer steps")
    in_order(found.text, "received", "Waiting for a worker to choose tests", f"cancel {run}", "No test is planned yet")
    story.select(report_of([[planned(TESTS[0])]]))
    assert "1 waiting" in page(client, "/pulls/7").text
    story.run_all({})
    assert "data-events" not in page(client, "/pulls/7").having("main")[0]


def test_what_runs_again_is_followed(client: TestClient, story: Story) -> None:
    new = again(story, told(story))
    found = page(client, "/pulls/7")
    assert (found.having("main")[0]["data-events"] or "").startswith(f"/api/v1/runs/{new}/events?after=")
    in_order(found.text, "This change breaks 2 tests", f"Run {new} runs some of these tests again now.")


def test_backends_have_a_box_each_with_failed_jobs_first(
    client: TestClient, story: Story, context: RelayContext
) -> None:
    told(story)
    assert "Cross-repo backends" not in page(client, "/pulls/7").text
    reported(context, "completed", conclusion="success", execution_time=65.0, queue_time=5.0)
    reported(context, "completed", conclusion="failure", job_name="wheel", run_attempt=2)
    reported(context, "completed", conclusion="success", repo="b/l3", level="L3")
    reported(context, "in_progress", repo="b/l3", level="L3", sha="1" * 40)
    found = page(client, "/pulls/7")
    section = found.text.split("Cross-repo backends")[1]
    in_order(section, "2 reported", "a/l2", "wheel", "attempt 2", "build", "queued 5.0 s, ran 1 min 5 s")
    in_order(section, "b/l3", "L3")
    assert found.having("a", href="/backends/a/l2")
    assert found.having("a", href="https://github.com/a/l2/actions/runs/100")
    assert "Cross-repo backends" in page(client, f"/commits/{HEAD}").text


def test_backends_are_shown_without_a_run_of_our_own(client: TestClient, context: RelayContext) -> None:
    reported(context, "completed", conclusion="failure", number=12)
    for path in ("/pulls/12", f"/commits/{HEAD}"):
        text = page(client, path).text
        in_order(text, "No run of it is on record", "Cross-repo backends", "failed", "a/l2")


def test_a_number_of_another_repository_is_asked_for_by_name(
    client: TestClient, story: Story, context: RelayContext
) -> None:
    told(story)
    assert "This change breaks" in page(client, f"/pulls/7?repo={REPO}").text
    reported(context, "completed", conclusion="failure")
    assert client.get("/pulls/7?repo=pytorch/other").status_code == 404


@pytest.mark.parametrize(
    "path", ["/pulls/4711", "/pulls/x", "/pulls/0", "/pulls/99999999999", "/commits/abc", "/commits/zzzzzzzz",
             f"/commits/{'b' * 40}", "/commits/bbbbbbb"]
)  # fmt: skip  # as one reads it
def test_an_unknown_change_is_a_404_page_that_leads_on(client: TestClient, story: Story, path: str) -> None:
    told(story)
    answer = client.get(path)
    assert answer.status_code == 404
    assert Outline(answer.text).having("a", href="/")


@pytest.mark.parametrize(
    "query", ["?group=odd", "?after=x&left=-1&held=99999999999", "?left=9&held=9&group=fine&after=2147483647", "?q=%00"]
)
def test_an_odd_address_is_still_a_page(client: TestClient, story: Story, query: str) -> None:
    told(story)
    assert "This change breaks" in page(client, f"/pulls/7{query}").text


def test_untrusted_text_is_never_markup(client: TestClient, story: Story, context: RelayContext) -> None:
    story.open(pr=7, title=HOSTILE, head=HEAD)
    test = f"test/x.py::T::test_{HOSTILE}"
    chain = kept(base_of(test), reason(2, HOSTILE, HOSTILE, 0.5))
    left = [dropped(f"test/x.py::T::{HOSTILE}", reason(3, HOSTILE, HOSTILE, 0.1))]
    story.select(report_of([[planned(test)]], decisions=[chain], left_out=left))
    story.run_all({test: ended(test, Observation.FAILED, HOSTILE)})
    reported(context, "completed", conclusion=HOSTILE, job_name=HOSTILE, name=HOSTILE, url=f"javascript:{HOSTILE}")
    for path in ("/pulls/7", f"/commits/{HEAD}", "/pulls/7?group=new", "/pulls/7?q=%3Cscript%3E&repo=%22%3E%3Cimg%3E"):
        found = Outline(client.get(path).text)
        assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
        assert not found.having("img")
        assert all("style" not in attributes for _, attributes in found.elements)
        assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
        assert not [link for link in found.having("a") if (link.get("href") or "").startswith("javascript")]
    assert page(client, "/pulls/7").text.count(HOSTILE) > 5


def test_ids_are_unique_and_labels_exist(client: TestClient, story: Story, context: RelayContext) -> None:
    told(story)
    reported(context, "completed", conclusion="success")
    found = page(client, "/pulls/7")
    ids = [attributes["id"] for _, attributes in found.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    labels = {attributes["aria-labelledby"] for _, attributes in found.elements if attributes.get("aria-labelledby")}
    assert labels <= set(ids)


def test_a_larger_change_takes_no_more_queries(client: TestClient, story: Story, context: RelayContext) -> None:
    told(story)
    few = queries(context, lambda: client.get("/pulls/7"))
    for _ in range(4):
        repeat(story, told(story), {}, *TESTS[:3])
    assert queries(context, lambda: client.get("/pulls/7")) == few <= 16
