"""The log on a run's page: the end of what goes on, the first failure of what failed, every other place by address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import LogKind, LogLine, LogPosted, Observation
from relay.runs.run_log import accept_log
from relay.web.pages.run_log import LINES
from tests.relay.web.test_page_tests import queries
from tests.relay.web.test_pages import HOSTILE, Outline, in_order, page
from tests.relay.worker_story import (
    NOW,
    arrive,
    arrive_and_plan,
    end,
    lease_id,
    must_lease,
    names,
    post_results,
    result,
    results,
)

STEP, TEST, FAILURE, OUTPUT = LogKind.STEP, LogKind.TEST, LogKind.FAILURE, LogKind.OUTPUT


class Speaking:
    """A run with one shard that is at work and speaks."""

    def __init__(self, context: RelayContext, cap: int = 1 << 20) -> None:
        self.store, self.cap = context.store, cap
        self.run_id = arrive_and_plan(self.store, [names(1)])
        self.leased = must_lease(self.store)
        self.said = 0

    def say(self, *texts: str, kind: LogKind = TEST) -> None:
        lines = tuple(LogLine(at=1.0, kind=kind, text=text) for text in texts)
        posted = LogPosted(lease_id=lease_id(self.leased), first=self.said, lines=lines)
        with self.store.writing() as session:
            self.said = accept_log(session, self.leased.shard.id, posted, NOW, self.cap).lines

    def finish(self, seen: Observation = Observation.PASSED) -> None:
        post_results(self.store, self.leased, results(self.leased, [result(names(1)[0], seen, seen)]))
        end(self.store, self.leased)


@pytest.fixture
def speaking(context: RelayContext) -> Speaking:
    return Speaking(context)


def shown(found: Outline) -> list[str]:
    """The texts of the lines that the page shows."""
    return re.findall(r"line \d+ of many|it fails", found.text)


def many(count: int) -> Sequence[str]:
    return [f"line {number} of many" for number in range(count)]


def link(found: Outline, rel: str) -> str:
    """The address that the log offers; empty when it offers none."""
    links = [one["href"] or "" for one in found.having("a", rel=rel)]
    return next((address for address in links if address.endswith("#log")), "")


def test_a_run_that_goes_on_shows_the_end_and_leads_to_the_beginning(client: TestClient, speaking: Speaking) -> None:
    speaking.say(*many(250))
    found = page(client, f"/runs/{speaking.run_id}")
    assert found.having("div", id="log", **{"data-live": None})  # type: ignore[arg-type]  # an attribute without value
    assert shown(found) == many(250)[-LINES:]
    seen = [shown(found)]
    while address := link(found, "prev"):
        found = page(client, address)
        seen.append(shown(found))
    assert [text for part in reversed(seen) for text in part] == list(many(250))
    forwards = shown(found)
    while address := link(found, "next"):
        found = page(client, address)
        forwards += shown(found)
    assert forwards == list(many(250))


def test_what_failed_opens_at_its_first_failure_with_some_lines_before(client: TestClient, speaking: Speaking) -> None:
    speaking.say(*many(200))
    speaking.say("it fails", kind=FAILURE)
    speaking.say(*many(200))
    live = page(client, f"/runs/{speaking.run_id}")
    assert "it fails" not in shown(live)
    speaking.finish(Observation.FAILED)
    found = page(client, f"/runs/{speaking.run_id}")
    assert shown(found)[:9] == [*many(200)[-8:], "it fails"]
    (current,) = found.having("li", **{"aria-current": "true"})
    assert current["class"] == "log-line log-failure"
    assert found.having("details", open=None, **{"data-key": "run-log"})  # type: ignore[arg-type]  # as above
    (first,) = [one["href"] or "" for one in found.having("a") if re.search(r"\?log=\d+\.\d+#log$", one["href"] or "")][
        :1
    ]
    assert shown(page(client, first)) == shown(found)


def test_a_failure_is_told_by_a_glyph_and_not_by_colour_alone(client: TestClient, speaking: Speaking) -> None:
    speaking.say("it fails", kind=FAILURE)
    in_order(page(client, f"/runs/{speaking.run_id}").text, "1 failure.", "\N{BALLOT X} it fails")


def test_a_search_says_how_much_it_looked_at_and_leads_to_the_place(client: TestClient, speaking: Speaking) -> None:
    speaking.say(*many(40), "the needle & its thread", *many(40))
    found = page(client, f"/runs/{speaking.run_id}?find=NEEDLE+%26")
    in_order(found.text, "1 line with “NEEDLE &” in all 81 lines.", "the needle & its thread")
    assert shown(found) == []
    (place,) = [one["href"] or "" for one in found.having("a") if (one.get("aria-label") or "").startswith("Line 41")]
    around = page(client, place)
    assert shown(around)[:9] == [*many(40)[-8:], "line 0 of many"]
    (box,) = found.having("input", name="find")
    assert box["value"] == "NEEDLE &"
    assert "No line with “nowhere” in all 81 lines." in page(client, f"/runs/{speaking.run_id}?find=nowhere").text


def test_one_shard_alone_is_asked_for_by_a_form_that_keeps_the_rest(
    client: TestClient, context: RelayContext, speaking: Speaking
) -> None:
    speaking.say("of the test shard")
    shard = speaking.leased.shard.id
    found = page(client, f"/runs/{speaking.run_id}?verdict=ok&q=add&shard={shard}")
    assert [one["value"] for one in found.having("input", type="hidden")] == ["ok", "add"]
    (chosen,) = [one for one in found.having("option") if "selected" in one]
    assert chosen["value"] == str(shard)
    assert "of the test shard" in found.text
    other = page(client, f"/runs/{speaking.run_id}?shard={shard + 1}")
    assert "of the test shard" not in other.text
    assert f"shard {shard + 1}: no lines" in other.text


def test_a_shard_leads_to_its_log(client: TestClient, speaking: Speaking) -> None:
    without = page(client, f"/runs/{speaking.run_id}")
    speaking.say("of this shard")
    found = page(client, f"/runs/{speaking.run_id}?find=x")
    label = f"Log of shard {speaking.leased.shard.id}"
    assert not without.having("a", **{"aria-label": label})
    (link_to,) = found.having("a", **{"aria-label": label})
    assert link_to["href"] == f"/runs/{speaking.run_id}?shard={speaking.leased.shard.id}#log"
    assert "of this shard" in page(client, link_to["href"] or "").text


def test_what_shards_print_is_never_markup(client: TestClient, speaking: Speaking) -> None:
    for kind in LogKind:
        speaking.say(HOSTILE, kind=kind)
    found = page(client, f"/runs/{speaking.run_id}")
    assert not found.having("img")
    assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
    assert found.text.count("{{ 7*7 }}") == len(LogKind)


@pytest.mark.parametrize(
    "query",
    ["log=nowhere", "log=before-", "log=0.0", "log=99999999999.1", "log=after-1", "shard=x", "find=" + "x" * 999],
)
def test_an_odd_address_gets_a_page(client: TestClient, speaking: Speaking, query: str) -> None:
    speaking.say("something")
    assert page(client, f"/runs/{speaking.run_id}?{query}").having("section", id="run-log")


def test_a_place_that_is_not_there_shows_what_is_near(client: TestClient, speaking: Speaking) -> None:
    speaking.say(*many(3))
    assert shown(page(client, f"/runs/{speaking.run_id}?log=2000000000.7")) == list(many(3))
    assert "No lines here." in page(client, f"/runs/{speaking.run_id}?log=after-2000000000.7").text


def test_a_test_leads_to_what_the_log_says_of_it(client: TestClient, speaking: Speaking) -> None:
    (test,) = names(1)
    speaking.say("another test", f"failed       0.100 s  {test}", "yet another", kind=FAILURE)
    speaking.finish(Observation.FAILED)
    found = page(client, f"/runs/{speaking.run_id}")
    (href,) = [one["href"] or "" for one in found.having("a") if "find=test%2F" in (one["href"] or "")]
    hit = page(client, href)
    assert "1 line with “" in hit.text
    assert "yet another" not in hit.text


def test_a_log_that_reached_its_cap_says_so(client: TestClient, context: RelayContext) -> None:
    speaking = Speaking(context, cap=50)
    speaking.say("x" * 30, "y" * 30)
    found = page(client, f"/runs/{speaking.run_id}")
    in_order(found.text, "Not everything was kept of shard", "the cap of a log was reached", "ends here: 50 bytes")


def test_a_run_without_lines_says_why(client: TestClient, context: RelayContext) -> None:
    run_id = arrive(context.store)
    assert "No worker has said anything yet." in page(client, f"/runs/{run_id}").text
    speaking = Speaking(context)
    speaking.finish()
    assert "There is no log of this run" in page(client, f"/runs/{speaking.run_id}").text


def test_what_a_run_leaves_behind_is_offered_with_its_size(client: TestClient, speaking: Speaking) -> None:
    speaking.say(*many(3))
    found = page(client, f"/runs/{speaking.run_id}")
    in_order(found.text, "Artifacts", "JUnit report", "when the run is over", "Results", "0 tests of 1", "Selection")
    in_order(found.text, "2 tests considered", "Log", "3 lines, 66 bytes")
    speaking.finish()
    over = page(client, f"/runs/{speaking.run_id}")
    downloads = [one["href"] or "" for one in over.having("a", download=None)]  # type: ignore[arg-type]  # no value
    names_of = [address.rpartition("/")[2] for address in downloads]
    assert names_of == ["junit.xml", "results.json", "selection.json", "log.txt", "log.jsonl"]
    for address in downloads:
        assert client.get(address).status_code == 200


def test_a_long_log_costs_no_more_queries_than_a_short_one(
    client: TestClient, context: RelayContext, speaking: Speaking
) -> None:
    speaking.say("it fails", kind=FAILURE)
    speaking.finish(Observation.FAILED)
    costs = []
    for _ in range(3):
        costs.append(queries(context, lambda: page(client, f"/runs/{speaking.run_id}")))
        speaking.say(*many(300))
    assert all(before == after for before, after in pairwise(costs))
