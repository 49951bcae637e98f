"""In a real browser: a run's log grows while it is read, opens at the failure, and is found and walked without a mouse
and without a script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from relay.contract import LogKind
from tests.browser.chromium import WAIT_MS
from tests.browser.inspection import sticks_out
from tests.relay.stories import Story, passed, planned, regressed, report_of

pytestmark = pytest.mark.browser

FILE = "test/test_demo_indexing.py"
TESTS = [f"{FILE}::TestDemoIndexingSPYRE::test_roundtrip{number}__float32" for number in range(3)]
ASSERTION = "AssertionError: Tensor-likes are not equal!\n\nMismatched elements: 3 / 12 (25.0%)"
LINES = "#log .log-line"


@pytest.fixture
def run(story: Story) -> tuple[int, int, str]:
    """A run whose shard is at work: its number, the shard and the lease."""
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    shard, lease, _ = story.lease()
    return run, shard, lease


def test_a_log_grows_while_it_is_read_and_leaves_the_search_alone(
    page: Page, url: str, story: Story, run: tuple[int, int, str]
) -> None:
    """What somebody types while lines come is still there."""
    number, shard, lease = run
    page.goto(f"{url}/runs/{number}")
    expect(page.locator("#log")).to_contain_text("No worker has said anything yet.", timeout=WAIT_MS)
    box = page.get_by_label("Text in a line")
    box.fill("Tensor")
    story.say(shard, lease, (LogKind.STEP, f"running {FILE} (1 of 1)"))
    expect(page.locator(LINES)).to_have_count(1, timeout=WAIT_MS)
    story.report(shard, lease, [passed(TESTS[0]), passed(TESTS[1])])
    expect(page.locator(LINES)).to_have_count(3, timeout=WAIT_MS)
    expect(page.locator(LINES).last).to_contain_text(TESTS[1], timeout=WAIT_MS)
    expect(box).to_have_value("Tensor")
    expect(box).to_be_focused()
    story.report(shard, lease, [regressed(TESTS[2], ASSERTION)])
    story.finish(shard, lease)
    expect(page.locator("#log [aria-current]")).to_contain_text(TESTS[2], timeout=WAIT_MS)
    page.keyboard.press("Enter")
    expect(page.locator(LINES)).to_have_count(2, timeout=WAIT_MS)
    expect(page.locator("#log")).to_contain_text("2 lines with “Tensor” in all 12 lines.", timeout=WAIT_MS)


def test_the_log_is_found_and_walked_by_keyboard(page: Page, url: str, story: Story, run: tuple[int, int, str]) -> None:
    """From a hit of the search to its neighbours and on to later lines; nothing has to be scrolled to by hand."""
    number, shard, lease = run
    for part in range(3):
        lines = [f"line {100 * part + line} of many" for line in range(100)]
        story.say(shard, lease, *((LogKind.TEST, line) for line in lines))
    page.goto(f"{url}/runs/{number}?log=begin")
    page.get_by_label("Text in a line").focus()
    page.keyboard.type("line 120 of")
    page.keyboard.press("Enter")
    expect(page.locator(LINES)).to_have_count(1, timeout=WAIT_MS)
    page.get_by_label("Line 121 among its neighbours").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#log [aria-current]")).to_contain_text("line 120 of many", timeout=WAIT_MS)
    expect(page.locator("#log [aria-current]")).to_be_in_viewport()
    page.get_by_role("link", name="later lines").focus()
    page.keyboard.press("Enter")
    expect(page.locator(LINES).first).to_contain_text("line 212 of many", timeout=WAIT_MS)


def test_without_a_script_the_log_is_read_page_by_page(
    browser: Browser, url: str, story: Story, run: tuple[int, int, str]
) -> None:
    number, shard, lease = run
    for part in range(3):
        lines = [f"line {100 * part + line} of many" for line in range(100)]
        story.say(shard, lease, *((LogKind.TEST, line) for line in lines))
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 800})
    page = context.new_page()
    page.goto(f"{url}/runs/{number}")
    expect(page.locator(LINES).last).to_contain_text("line 299 of many", timeout=WAIT_MS)
    page.get_by_role("link", name="earlier lines").click()
    expect(page.locator(LINES).last).to_contain_text("line 199 of many", timeout=WAIT_MS)
    page.get_by_label("Text in a line").fill("line 7 of")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(LINES)).to_have_count(1, timeout=WAIT_MS)
    context.close()


def test_a_wild_line_does_not_widen_a_phone(page: Page, url: str, story: Story, run: tuple[int, int, str]) -> None:
    number, shard, lease = run
    story.say(shard, lease, (LogKind.FAILURE, "x" * 1_500), (LogKind.OUTPUT, "    " + "wide " * 300))
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{url}/runs/{number}")
    expect(page.locator(LINES)).to_have_count(2, timeout=WAIT_MS)
    assert not sticks_out(page)
