"""In a real browser: a change is followed to its verdict, leads to a test's history, and both fit a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import WAIT_MS
from tests.browser.inspection import sticks_out_of_a_phone
from tests.relay.runs.test_changes import TESTS, told
from tests.relay.runs.test_histories import TEST, failed, pulled, pushed
from tests.relay.stories import Story, dropped, flaked, passed, planned, regressed, report_of

pytestmark = pytest.mark.browser


def test_a_change_is_followed_to_its_verdict_and_leads_to_a_tests_history(page: Page, url: str, story: Story) -> None:
    story.open(pr=7)
    page.goto(f"{url}/pulls/7")
    heading = page.locator("h1")
    expect(heading).to_have_text("Waiting for a worker to choose tests")
    story.select(report_of([[planned(test) for test in TESTS]]))
    expect(page.locator("#tests")).to_contain_text("10 planned and not reported yet", timeout=WAIT_MS)
    story.run_all({TESTS[3]: regressed(TESTS[3], "boom")})
    expect(heading).to_have_text("This change breaks 1 test of 10 on spyre.", timeout=WAIT_MS)
    expect(page.locator("header.verdict.bad")).to_be_visible()

    page.keyboard.press("j")
    summary = page.locator("#tests .test summary").first
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#tests .reasons").first).to_be_visible()
    page.get_by_role("link", name="How this test did before").first.click()
    expect(page.locator("h1")).to_contain_text("test_op3__float32")
    expect(page.locator("#test-state")).to_contain_text("broken by #7")
    expect(page.locator(".th-strip a")).to_have_count(1)


def test_nothing_sticks_out_of_a_phone(browser: Browser, url: str, story: Story) -> None:
    told(story)
    for number in range(1, 20):
        pulled(story, 100 + number, flaked(TEST, "once") if number % 3 else passed(TEST))
    pushed(story, "a", failed())
    story.open(pr=8, title="A" * 300)
    long = f"test/test_x.py::T::test_{'x' * 400}"
    left = [dropped(f"test/test_x.py::T::{'y' * 300}")]
    story.select(report_of([[planned(long)]], left_out=left))
    story.run_all({long: regressed(long, "z" * 2_000)})
    paths = ("/pulls/7", "/pulls/8", f"/tests?id={TEST}", f"/tests?id={long}", "/tests", "/tests?id=nobody")
    assert sticks_out_of_a_phone(browser, url, paths) == []


def test_both_pages_are_whole_without_javascript(browser: Browser, url: str, story: Story) -> None:
    told(story)
    context = browser.new_context(java_script_enabled=False)
    try:
        plain = context.new_page()
        plain.goto(f"{url}/pulls/7")
        expect(plain.locator("h1")).to_contain_text("This change breaks 2 tests of 10")
        plain.locator("#tests .test summary").first.click()
        expect(plain.locator("#tests .reasons").first).to_be_visible()
        plain.get_by_role("link", name="show them").click()
        expect(plain.locator("#tests .test")).to_have_count(3)
        plain.goto(f"{url}/tests")
        plain.get_by_label("Part of a test's id").fill("OP1__")
        plain.get_by_role("button", name="Find").click()
        plain.locator("#found-heading ~ ol a.headline").click()
        expect(plain.locator("h1")).to_contain_text("test_op1__float32")
    finally:
        context.close()
