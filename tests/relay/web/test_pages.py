"""Pages are whole without JavaScript, put failures first, explain every test, and never trust a text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import relay.web
from relay.context import RelayContext
from relay.contract import (
    Attempt,
    ChangedFile,
    Expected,
    FilteredTest,
    NotTested,
    NotTestedReason,
    Observation,
    TestedOn,
    TestResult,
    Tree,
)
from tests.relay.stories import (
    Story,
    base_of,
    dropped,
    ended,
    flaked,
    kept,
    known,
    planned,
    reason,
    regressed,
    report_of,
)

FILE = "test/test_demo_ops.py"
TESTS = [f"{FILE}::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(8)]
HOSTILE = "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{ 7*7 }}"
VOID = {"meta", "link", "input", "wbr", "br", "img", "hr"}


class Outline(HTMLParser):
    """The elements of a page, checked for balance, with the text of each in reading order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def having(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        """Attributes of the elements of this kind with these attributes."""
        return [found for name, found in self.elements if name == tag and attributes.items() <= found.items()]


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store)


def page(client: TestClient, path: str) -> Outline:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return Outline(answer.text)


def in_order(text: str, *parts: str) -> None:
    """The parts stand in the text, one after the other."""
    at = -1
    for part in parts:
        found = text.find(part, at + 1)
        assert found > at, f"{part!r} is missing or too early"
        at = found


def finished(story: Story) -> int:
    """A run with one test of most verdicts, one filtered and 60 left out."""
    run = story.open()
    filtered = [
        FilteredTest(id=f"{TESTS[0]}_f16", base=base_of(TESTS[0]), rule="dtype_unsupported", provenance="d.yaml:3")
    ]
    left = [dropped(f"test/test_nn.py::TestNN::test_{number}") for number in range(60)]
    tests = [*map(planned, TESTS[:7]), planned(TESTS[7], expected=Expected.XFAIL)]
    story.select(report_of([tests], filtered=filtered, left_out=left, notes=["no model is configured"]))
    story.run_all(
        {
            TESTS[1]: flaked(TESTS[1], "once in a while"),
            TESTS[2]: regressed(TESTS[2], "AssertionError: 1 != 2"),
            TESTS[3]: ended(TESTS[3], Observation.CRASHED, "Segmentation fault"),
            TESTS[4]: known(TESTS[4], "fails on base as well"),
            TESTS[5]: ended(TESTS[5], Observation.TIMED_OUT, "60 s"),
            TESTS[6]: ended(TESTS[6], Observation.MISSING, "not collected"),
            TESTS[7]: ended(TESTS[7], Observation.PASSED),
        }
    )
    return run


def test_an_empty_list_says_how_to_get_a_first_run(client: TestClient) -> None:
    text = page(client, "/").text
    for word in ("No run yet", "/github/webhook", "RELAY_WEBHOOK_SECRET", "relay demo"):
        assert word in text


def test_the_list_shows_verdict_change_counts_and_times(client: TestClient, story: Story) -> None:
    run = finished(story)
    waiting = story.open(pr=9, title="Another change")
    found = page(client, "/")
    in_order(found.text, "received", "Waiting for a worker", "Another change", "failure", "Compute it in fewer steps")
    assert found.having("a", href=f"/runs/{run}")
    assert found.having("a", href=f"/runs/{waiting}")
    assert found.having("a", href="https://github.com/pytorch/pytorch-like/pull/7")
    assert len(found.having("th", scope="col")) == 5
    assert all(re.fullmatch(r"2026-11-02T09:\d\d:\d\d\+00:00", time["datetime"] or "") for time in found.having("time"))


def test_the_list_is_paged_and_filtered_by_its_address(client: TestClient, story: Story) -> None:
    for number in range(1, 28):
        story.open(pr=number, title=f"change number {number:02}")
    first = page(client, "/")
    assert "change number 27" in first.text
    assert "change number 02" not in first.text
    (older,) = first.having("a", rel="next")
    second = page(client, older["href"] or "")
    assert "change number 02" in second.text
    only = page(client, "/?state=received&pr=3")
    assert "change number 03" in only.text
    assert "change number 04" not in only.text
    assert "No run matches" in page(client, "/?state=finished&pr=3").text


def test_runs_of_several_devices_are_told_apart_and_filtered(client: TestClient, context: RelayContext) -> None:
    spyre, quartz = (Story(context.store, device=device).open(pr=3) for device in ("spyre", "quartz"))
    plain = page(client, "/")
    assert not plain.having("select", name="device")  # of one device there is nothing to choose
    object.__setattr__(context, "backends", (*context.backends, replace(context.backends[0], device="quartz")))
    both = page(client, "/")
    assert both.having("select", name="device")
    in_order(both.text, f"run {quartz} on quartz", f"run {spyre} on spyre")
    only = page(client, "/?device=quartz")
    assert only.having("a", href=f"/runs/{quartz}")
    assert not only.having("a", href=f"/runs/{spyre}")
    assert "the device basalt" in page(client, "/?device=basalt").text


@pytest.mark.parametrize("query", ["?state=", "?pr=", "?state=odd&pr=x&before=y", "?pr=99999999999999", "?before=-1"])
def test_an_odd_address_is_still_a_page(client: TestClient, story: Story, query: str) -> None:
    story.open()
    assert "Compute it in fewer steps" in page(client, f"/{query}").text


def test_the_verdict_comes_first_then_failures_then_the_rest(client: TestClient, story: Story) -> None:
    run = finished(story)
    found = page(client, f"/runs/{run}")
    in_order(
        found.text,
        *("4 tests break with this change", "How the tests were chosen", "Change", "Ownership", "Triage", "Manifests"),
        *("1 regression", "AssertionError: 1 != 2", "1 crash", "Segmentation fault", "1 timeout", "1 missing"),
        *("flaky", "known failure", "unexpected pass", "ok", "Tests left out"),
    )
    assert len(found.having("h1")) == 1
    assert "relay run rerun 1 --failed" in found.text


def test_the_funnel_has_its_counts_and_bars(client: TestClient, story: Story) -> None:
    found = page(client, f"/runs/{finished(story)}")
    bars = [bar["aria-label"] for bar in found.having("svg", **{"class": "bar"})]
    assert bars[1] == "68 of 268 base tests left this stage"
    assert len(bars) == 4
    assert "no model is configured" in found.text
    assert "unravel_index" in found.text


def test_every_test_has_its_reason_chain_expectation_and_attempts(client: TestClient, story: Story) -> None:
    run = story.open()
    chain = (reason(2, "imports", "imports torch.functional", 0.8), reason(4, "listed", "demo.yaml:12"))
    story.select(report_of([[planned(TESTS[0])]], decisions=[kept(base_of(TESTS[0]), *chain)]))
    story.run_all({TESTS[0]: regressed(TESTS[0], "boom")})
    text = page(client, f"/runs/{run}").text
    in_order(text, "Why it ran", "2 ownership", "imports", "score 0.80", "imports torch.functional", "4 manifests")
    in_order(text, "Expected", "to pass", "listed", "demo.yaml:12", "smoke")
    in_order(text, "head 1:", "failed", "head 2:", "failed", "base 1:", "passed")


def test_a_running_run_shows_progress_and_listens(client: TestClient, story: Story) -> None:
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [ended(tests[0], Observation.PASSED)])
    found = page(client, f"/runs/{run}")
    assert found.having("progress", max="8", value="1")
    (main,) = found.having("main")
    assert (main["data-events"] or "").startswith(f"/api/v1/runs/{run}/events?after=")
    assert found.having("a", href=f"/runs/{run}")
    in_order(found.text, "Look again", "Without JavaScript this page does not follow")
    assert "waiting" in found.text
    assert found.having("p", role="status")


def test_a_run_that_is_over_neither_listens_nor_reloads(client: TestClient, story: Story) -> None:
    found = page(client, f"/runs/{finished(story)}")
    assert "data-events" not in found.having("main")[0]
    assert "Look again" not in found.text


def test_no_page_reloads_by_itself() -> None:
    """It would take away what is being read (WCAG 2.2, 2.2.1)."""
    folder = Path(relay.web.__file__).parent / "templates"
    assert [page.name for page in folder.iterdir() if "http-equiv" in page.read_text("utf-8")] == []


def test_a_run_that_was_not_tested_says_why(client: TestClient, story: Story) -> None:
    run = story.open()
    story.select(report_of([], not_tested=NotTested(reason=NotTestedReason.NEEDS_BUILD, detail="Foo.cpp is compiled")))
    text = page(client, f"/runs/{run}").text
    in_order(text, "neutral", "Foo.cpp is compiled", "No test was planned")


def test_results_of_one_verdict_are_paged(client: TestClient, story: Story) -> None:
    run = story.open()
    many = [f"{FILE}::TestDemoOpsSPYRE::test_many{number:03}__float32" for number in range(120)]
    story.select(report_of([[planned(test) for test in many]]))
    story.run_all({})
    overview = page(client, f"/runs/{run}")
    assert "test_many049" in overview.text
    assert "test_many050" not in overview.text
    (more,) = overview.having("a", href=f"/runs/{run}?verdict=ok#results")
    first = page(client, more["href"] or "")
    assert "test_many099" in first.text
    (following,) = first.having("a", rel="next")
    second = page(client, following["href"] or "")
    assert "test_many119" in second.text
    assert "101\N{EN DASH}120 of 120" in second.text


def test_tests_left_out_are_searched_and_paged_with_their_reasons(client: TestClient, story: Story) -> None:
    run = finished(story)
    first = page(client, f"/runs/{run}")
    in_order(first.text, "60 not chosen", "stage 3 triage: below the cut", "1 kept from running", "dtype_unsupported")
    (following,) = first.having("a", rel="next")
    assert "test_59" in page(client, following["href"] or "").text
    found = page(client, f"/runs/{run}?q=TestNN::test_42")
    assert "1 not chosen" in found.text
    assert "owner label" in found.text
    assert "No test that was left out" in page(client, f"/runs/{run}?q=no-such-test").text


@pytest.mark.parametrize(
    "query", ["?verdict=odd", "?tests=x&left=-1&held=99999999999", "?tests=9&left=9&held=9&verdict=ok"]
)
def test_an_odd_run_address_is_still_a_page(client: TestClient, story: Story, query: str) -> None:
    assert "tests break" in page(client, f"/runs/{finished(story)}{query}").text


@pytest.mark.parametrize("path", ["/runs/4711", "/runs/99999999999999999999"])
def test_an_unknown_run_is_a_page_that_leads_on(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert Outline(answer.text).having("a", href="/")


def test_untrusted_text_is_never_markup(client: TestClient, story: Story) -> None:
    run = story.open(title=HOSTILE)
    test = f"test/{HOSTILE}.py::TestSPYRE::test_{HOSTILE}".replace("::TestSPYRE", "::T")
    left = [dropped(f"test/x.py::T::{HOSTILE}", reason(3, HOSTILE, HOSTILE, 0.1))]
    filtered = [FilteredTest(id=f"{HOSTILE}::T::x", base="x", rule=HOSTILE, provenance=HOSTILE)]
    chain = kept(base_of(test), reason(2, HOSTILE, HOSTILE, 0.5))
    hostile = planned(test).model_copy(update={"rule": HOSTILE, "provenance": HOSTILE, "tags": (HOSTILE,)})
    report = report_of([[hostile]], decisions=[chain], left_out=left, filtered=filtered, notes=[HOSTILE])
    files = (ChangedFile(path=HOSTILE, status=HOSTILE, category=HOSTILE, symbols=(HOSTILE,)),)
    steps = tuple(
        step.model_copy(update={"name": HOSTILE, "unit": HOSTILE, "summary": HOSTILE}) for step in report.funnel
    )
    story.worker = HOSTILE
    story.select(report.model_copy(update={"changed_files": files, "funnel": steps, "state": HOSTILE}))
    story.run_all({test: regressed(test, HOSTILE)})
    for path in ("/", f"/runs/{run}", f"/runs/{run}?q={'%3Cscript%3E'}", f"/runs/{run}?verdict=regression"):
        found = page(client, path)
        assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
        assert not found.having("img")
        assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    text = page(client, f"/runs/{run}").text
    assert text.count(HOSTILE) > 15
    assert "49" not in re.sub(r"\d\d:\d\d:\d\d", "", text.split("How the tests")[0])


def test_pages_are_fenced_in_and_hold_no_inline_code(client: TestClient, story: Story) -> None:
    run = finished(story)
    for path in ("/", f"/runs/{run}", "/runs/4711", "/static/relay.js", "/static/relay.css"):
        answer = client.get(path)
        assert answer.headers["content-security-policy"].startswith("default-src 'self';")
        assert answer.headers["x-content-type-options"] == "nosniff"
    found = page(client, f"/runs/{run}")
    assert all("style" not in attributes for _, attributes in found.elements)
    assert not found.having("style")


def test_every_state_has_a_word_beside_its_colour(client: TestClient, story: Story) -> None:
    found = client.get(f"/runs/{finished(story)}").text
    badges = re.findall(r'<span class="badge [a-z]+"[^>]*><span aria-hidden="true">(.+?)</span> (.+?)</span>', found)
    assert badges
    assert all(glyph.strip() and word.strip() for glyph, word in badges)


def test_ids_are_unique_and_labels_exist(client: TestClient, story: Story) -> None:
    found = page(client, f"/runs/{finished(story)}")
    ids = [attributes["id"] for _, attributes in found.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    labels = {attributes["aria-labelledby"] for _, attributes in found.elements if attributes.get("aria-labelledby")}
    assert labels <= set(ids)


def test_secrets_are_on_no_page(client: TestClient, story: Story, context: RelayContext) -> None:
    run = finished(story)
    settings = context.settings
    for secret in (settings.webhook_secret, settings.worker_token, settings.operator_token):
        assert secret is not None
        for path in ("/", f"/runs/{run}", f"/api/v1/runs/{run}", "/api/v1/health"):
            assert secret.get_secret_value() not in client.get(path).text


def test_a_run_says_what_it_was_tested_on_and_that_nothing_confined_it(client: TestClient, story: Story) -> None:
    """The environment in one line, a missing sandbox as a badge with words."""
    run_id = story.open()
    tested = TestedOn(name="nightly", torch_version="2.13.0", device_profile="compat", sandbox="none: no bwrap here")
    story.select(report_of([[planned(TESTS[0])]], tested_on=tested))
    shown = client.get(f"/runs/{run_id}").text
    assert "tested on nightly, torch 2.13.0, device profile compat" in shown
    assert "not in a sandbox</span> none: no bwrap here" in shown


def test_a_run_names_every_worker_that_had_no_whole_sandbox(client: TestClient, story: Story) -> None:
    """In words and in the API, though the one that chose the tests had one."""
    run_id = story.open()
    story.sandbox = "bubblewrap"
    whole = TestedOn(name="default", torch_version="2.13.0", sandbox="bubblewrap")
    story.select(report_of([[planned(TESTS[0])], [planned(TESTS[1])]], tested_on=whole))
    story.sandbox, story.worker = "landlock: bubblewrap is <not> installed", "w2"
    story.lease()
    story.lease()
    shown = client.get(f"/runs/{run_id}").text
    assert "not in a whole sandbox</span> w2, 2 shards: landlock: bubblewrap is &lt;not&gt; installed" in shown
    told = client.get(f"/api/v1/runs/{run_id}").json()
    assert told["weak_sandboxes"] == [{"worker": "w2", "shards": 2, "sandbox": story.sandbox}]
    assert [shard["sandbox"] for shard in told["shards"]] == ["bubblewrap", story.sandbox, story.sandbox]


def test_an_attempt_of_an_earlier_run_is_marked(client: TestClient, story: Story) -> None:
    """A reader sees what was run now and what was known."""
    run_id = story.open()
    story.select(report_of([[planned(TESTS[0])]]))
    tries = [
        Attempt(tree=tree, number=1, observation=Observation.FAILED, duration_s=0.1, reused=tree is Tree.BASE)
        for tree in Tree
    ]
    story.run_all({TESTS[0]: TestResult(id=TESTS[0], attempts=tuple(tries))})
    assert client.get(f"/runs/{run_id}").text.count("known from an earlier run") == 1
