"""In a real browser: *Now* follows what happens by itself, holds its place, fits a phone, and needs no script."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Response, expect

from relay.context import RelayContext
from relay.contract import WorkerPresent
from relay.runs.presence import say_present
from tests.browser.chromium import WAIT_MS
from tests.browser.inspection import sticks_out_of_a_phone
from tests.relay.stories import Story, passed, planned, report_of
from tests.waiting import until

pytestmark = pytest.mark.browser

TESTS = [f"test/test_demo_indexing.py::TestDemoIndexingSPYRE::test_roundtrip{number}" for number in range(4)]


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store, now=context.now() - timedelta(seconds=5))


def test_a_run_goes_through_the_page_by_itself(page: Page, url: str, story: Story) -> None:
    page.goto(f"{url}/now")
    expect(page.locator(".now-summary")).to_contain_text("Nothing to do")
    story.open(title="The first change")
    expect(page.locator(".now-run")).to_contain_text("place 1 of 1", timeout=WAIT_MS)
    expect(page.locator(".warning")).to_contain_text("no worker is at work on spyre")

    story.select(report_of([[planned(test) for test in TESTS]]))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [passed(tests[0])])
    running = page.locator(".now-run")
    expect(running).to_contain_text("1 of 4 tests reported", timeout=WAIT_MS)
    expect(page.locator(".now-workers")).to_contain_text("worker-1")
    expect(page.locator(".warning")).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("1 run at work, 0 waiting")

    page.keyboard.press("j")
    expect(running.locator("a.headline")).to_be_focused()
    story.report(shard, lease, [passed(test) for test in tests[1:]])
    expect(running).to_contain_text("4 of 4 tests reported", timeout=WAIT_MS)
    expect(running.locator("a.headline")).to_be_focused()

    story.finish(shard, lease)
    expect(page.locator(".now-summary")).to_contain_text("Nothing to do", timeout=WAIT_MS)
    story.open(pr=8, title="The second change")
    expect(page.locator(".now-run")).to_contain_text("The second change", timeout=WAIT_MS)


def test_workers_come_and_go_without_any_run(page: Page, url: str, context: RelayContext) -> None:
    """Which is no event: the page looks by itself."""
    hello = WorkerPresent(worker="spyre-9", device="spyre", process="p", version="1", sandbox="bubblewrap")
    page.clock.install()
    page.goto(f"{url}/now")
    for message, summary in ((hello, "1 worker idle"), (hello.model_copy(update={"leaving": True}), "no worker seen")):
        with context.store.writing() as session:
            say_present(session, message, context.now())
        page.clock.run_for(25_000)
        expect(page.locator(".now-summary")).to_contain_text(summary, timeout=WAIT_MS)


def test_a_page_that_nobody_looks_at_gives_its_connection_back(
    page: Page, url: str, app: FastAPI, story: Story
) -> None:
    """And catches up when it is looked at again."""
    look = "yes => { Object.defineProperty(document, 'hidden', { value: !yes, configurable: true });"
    look += " document.dispatchEvent(new Event('visibilitychange')); }"
    live = app.state.live.events
    page.goto(f"{url}/now")
    until(lambda: live.newest is not None)
    page.evaluate(look, False)
    until(lambda: live.newest is None)
    story.open(title="The first change")
    page.evaluate(look, True)
    expect(page.locator(".now-run")).to_contain_text("The first change", timeout=WAIT_MS)
    story.open(pr=8, title="The second change")
    expect(page.locator(".now-run")).to_have_count(2, timeout=WAIT_MS)


def test_a_page_at_rest_asks_for_nothing(page: Page, url: str) -> None:
    """Once it is there, with its two files, it only listens."""
    asked: list[str] = []

    def see(response: Response) -> None:
        asked.append(response.url.removeprefix(url).split("?")[0])

    page.on("response", see)
    page.goto(f"{url}/now")
    page.wait_for_timeout(1_500)  # longer than a page waits after an event before it asks again
    assert sorted(path for path in asked if path != "/static/icon.svg") == [
        *("/api/v1/events", "/now", "/static/relay.css", "/static/relay.js")
    ]


def test_nothing_sticks_out_of_a_phone(browser: Browser, url: str, story: Story) -> None:
    story.worker = "w" * 200
    story.open(title="A" * 300)
    story.select(report_of([[planned(test) for test in TESTS]]))
    story.lease()
    story.open(pr=8, title="B" * 300)
    assert sticks_out_of_a_phone(browser, url, ["/now", f"/now?device={'d' * 100}"]) == []


def test_the_page_is_whole_without_javascript(browser: Browser, url: str, story: Story) -> None:
    story.open(title="The first change")
    context = browser.new_context(java_script_enabled=False)
    try:
        plain = context.new_page()
        plain.goto(f"{url}/now")
        expect(plain.locator(".now-run")).to_contain_text("The first change")
        plain.locator(".now-run a.headline").click()
        expect(plain.locator("h1")).to_have_text("Waiting for a worker to choose tests")
    finally:
        context.close()
