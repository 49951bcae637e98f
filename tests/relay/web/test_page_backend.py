"""The page of one backend: figures with their counts, the targets of its level, and a matrix that the newest commit
colours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from relay.runs.creation import NewRun, open_run
from relay.store.models import Trigger
from tests.relay.hud.told import NOW, PROBE, told
from tests.relay.web.readers import Readers, statements
from tests.relay.web.test_pages import HOSTILE, Outline, in_order, page

OLD, NEW = "1" * 40, "2" * 40
PATH = "/backends/a/l2"


def letters(found: Outline) -> list[str]:
    """The titles of the matrix's cells, by line."""
    cells = [attributes for _, attributes in found.elements if "crcr-cell" in (attributes.get("class") or "").split()]
    return [cell["title"] or "" for cell in cells if "href" in cell]


def test_the_figures_have_counts_and_percentiles(readers: Readers) -> None:
    for number, conclusion in enumerate(("success", "success", "failure", "timed_out")):
        waits: dict[str, Any] = {"queue_time": 60 * (number + 1), "execution_time": 600 * (number + 1)}
        told(readers.context.store, conclusion, job_name=f"job{number}", **waits)
    text = page(readers.client, PATH).text
    in_order(text, "a/l2", "L2", "on call: ann", "Pass rate", "poor", "50.0 % (2 of 4)")
    in_order(text, "Pull requests", "1", "4 finished jobs", "Failures", "1", "and 1 timed out")
    in_order(text, "Wait in the queue", "P50 3 min 0 s, P95 4 min 0 s", "average 2 min 30 s; 4 jobs told")
    in_order(text, "Execution", "P50 20 min 0 s, P95 30 min 0 s", "3 jobs told", "Timeouts", "25.0 % (1 of 4)")


def test_the_targets_of_l3_are_told_one_by_one(readers: Readers) -> None:
    told(readers.context.store, "failure")
    text = page(readers.client, PATH).text
    in_order(text, "Not ready for L3, measured over 14 days", "Pass rate is missed", "End-to-end P50 has no data")
    in_order(text, "Pass rate", "0.0 %", "> 90 %", "missed", "Timeout rate", "met", "Average queue", "no data")
    assert "Target of L3" not in page(readers.client, "/backends/a/l4").text


def test_a_line_shows_the_newest_commit_and_folds_the_older_ones(readers: Readers) -> None:
    told(readers.context.store, "failure", sha=OLD, ago=timedelta(hours=5))
    told(readers.context.store, "success", sha=NEW, ago=timedelta(hours=4))
    told(readers.context.store, "failure", sha=OLD, ago=timedelta(hours=1), run_attempt=2)
    found = page(readers.client, PATH)
    assert letters(found) == ["build: success, 10 min 0 s"]
    assert found.having("a", href="/pulls/7")
    (older,) = found.having("a", href=f"{PATH}?older=7#jobs")
    opened = page(readers.client, older["href"] or "")
    assert letters(opened) == ["build: success, 10 min 0 s", "build: failure, attempt 2, 10 min 0 s"]
    in_order(opened.text, NEW[:10], "hide 1 older commit", "older commit", OLD[:10])


def test_a_cell_leads_to_what_is_known_of_its_jobs(readers: Readers) -> None:
    failed = [{"name": "test_add", "classname": "TestOps", "message": "1 != 2"}] + [
        {"name": f"t{n}"} for n in range(24)
    ]
    results = {"passed": 8, "failed": 25, "skipped": 0}
    told(readers.context.store, "failure", queue_time=90, test_results=results, failed_tests_detail=failed)
    (cell,) = [
        a for _, a in page(readers.client, PATH).elements if "crcr-cell bad" in (a.get("class") or "") and "href" in a
    ]
    found = page(readers.client, cell["href"] or "")
    in_order(found.text, "build for #7 at aaaaaaaaaa", "failure", "CI / build", "Waited", "1 min 30 s")
    in_order(found.text, "8 of 33 tests passed, 25 failed", "TestOps::test_add", "1 != 2", "and 5 more", "Show the log")
    assert found.having("a", href="https://github.com/a/l2/actions/runs/100/job/900")
    assert found.having("a", **{"aria-current": "true"})
    assert "aria-current" not in str(page(readers.client, f"{PATH}?job=nothing").having("a", title=cell["title"] or ""))


def test_numbered_jobs_share_a_column_that_shows_the_worst(readers: Readers) -> None:
    for number, conclusion in enumerate(("success", "failure", "success")):
        told(readers.context.store, conclusion, job_name=f"shard-{number}")
    assert letters(page(readers.client, PATH)) == ["shard: failure, 10 min 0 s, the worst of 3 jobs"]


def test_titles_come_from_the_runs_of_the_relay(readers: Readers) -> None:
    told(readers.context.store)
    with readers.context.store.writing() as session:
        for attempt, title in enumerate(("An old title", "A new title")):
            run = NewRun(
                identity=f"delivery:{attempt}",
                repo=readers.context.settings.upstream_repo,
                kind="pull_request",
                base_sha=OLD,
                head_sha=NEW,
                device="spyre",
                trigger=Trigger.WEBHOOK,
                pr_number=7,
                title=title,
                base_ref="main",
            )
            open_run(session, run, NOW)
    text = page(readers.client, PATH).text
    in_order(text, "#7", "A new title")
    assert "An old title" not in text


def test_pull_requests_are_paged_and_the_rest_of_the_address_stays(readers: Readers) -> None:
    for number in range(1, 53):
        told(readers.context.store, pr=number, ago=timedelta(minutes=number))
    first = page(readers.client, f"{PATH}?days=30")
    assert len(letters(first)) == 50
    (following,) = first.having("a", rel="next")
    assert parse_qs(urlsplit(following["href"] or "").query) == {"days": ["30"], "page": ["2"]}
    second = page(readers.client, following["href"] or "")
    assert len(letters(second)) == 2
    assert second.having("a", rel="prev", href=f"{PATH}?days=30#jobs")
    assert "Back to newer jobs" in page(readers.client, f"{PATH}?page=9").text


def test_scheduled_runs_have_their_own_figures_and_lines(readers: Readers) -> None:
    for number, sha in enumerate((OLD, NEW)):
        ago = timedelta(hours=40 + number)
        told(readers.context.store, "success", event="nightly", pr=0, sha=sha, run_id=str(number), ago=ago)
    told(readers.context.store, "failure", pr=9)
    found = page(readers.client, f"{PATH}?event=nightly")
    in_order(found.text, "stale", "100.0 % (2 of 2)", "Commits", "2", "2 finished jobs")
    assert len(letters(found)) == 2
    assert "#9" not in found.text


def test_the_page_of_the_probe_tells_whether_the_relay_works(readers: Readers) -> None:
    told(readers.context.store, "success", repo=PROBE)
    in_order(page(readers.client, f"/backends/{PROBE}").text, "not listed", "Relay, pull requests", "healthy")


def test_a_listed_backend_that_never_reported_has_a_page(readers: Readers) -> None:
    in_order(page(readers.client, "/backends/A/QUIET").text, "a/quiet", "no data", "Nothing was reported for a pull")


@pytest.mark.both_setups
@pytest.mark.parametrize("path", ["/backends/no/body", "/backends/%3Cb%3E/x", "/backends/a/%00"])
def test_an_unknown_backend_is_a_page_that_leads_on(readers: Readers, path: str) -> None:
    answer = readers.client.get(path)
    assert answer.status_code == 404
    assert Outline(answer.text).having("a", href="/backends")


@pytest.mark.parametrize("query", ["?page=x&older=y&job=z", "?page=999999999", "?older=99999999999999", "?days=0"])
def test_an_odd_address_is_still_a_page(readers: Readers, query: str) -> None:
    told(readers.context.store)
    assert "a/l2" in page(readers.client, f"{PATH}{query}").text


def test_nothing_a_backend_says_is_markup(readers: Readers) -> None:
    hostile: dict[str, Any] = {
        "name": HOSTILE,
        "job_name": HOSTILE,
        "url": "javascript:alert(1)",
        "artifact_url": "javascript:alert(2)",
        "failed_tests_detail": [{"name": HOSTILE, "classname": HOSTILE, "message": HOSTILE}],
    }
    told(readers.context.store, "failure", **hostile)
    (cell,) = [
        a for _, a in page(readers.client, PATH).elements if "crcr-cell bad" in (a.get("class") or "") and "href" in a
    ]
    found = page(readers.client, cell["href"] or "")
    assert found.text.count(HOSTILE) >= 4
    assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
    assert not found.having("img")
    assert not [link for link in found.having("a") if "javascript" in (link["href"] or "")]
    assert not [
        name for _, attributes in found.elements for name in attributes if name.startswith("on") or name == "style"
    ]


@pytest.mark.parametrize("event", ["", "nightly"])
def test_a_longer_page_costs_no_more_queries(readers: Readers, event: str) -> None:
    counts = []
    for number in range(2):
        for line in range(number * 20 + 1):
            sha = f"{number}{line:02}".ljust(40, "a")
            report: dict[str, Any] = {"event": event, "pr": 0} if event else {"pr": 100 * number + line + 1}
            told(readers.context.store, sha=sha, run_id=f"{number}{line}", **report)
        with statements(readers.context.store.engine) as seen:
            page(readers.client, f"{PATH}?event={event}")
        counts.append(len(seen))
    assert counts[0] == counts[1]
    assert counts[0] < 25


def test_the_course_of_days_is_drawn_and_told(readers: Readers) -> None:
    told(readers.context.store, "failure", job_name="a", ago=timedelta(days=2))
    assert "Day by day" not in page(readers.client, PATH).text
    told(readers.context.store, "success", job_name="b")
    found = page(readers.client, PATH)
    in_order(found.text, "Day by day", "The figures of 2 days", "2026-11-02", "100.0 % (1 of 1)", "0.0 % (0 of 1)")
    labels = [drawn["aria-label"] or "" for drawn in found.having("svg", role="img")]
    assert [label.split(",")[0] for label in labels] == [
        *("Pass rate by day", "Failed and timed-out jobs a day", "Finished jobs a day")
    ]
