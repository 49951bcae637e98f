"""In a real browser: an operator signs in from a run, runs its failed tests again, finds that in the log, and signs
out; by keyboard, without JavaScript, and on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, expect

from relay.context import RelayContext
from tests.browser.chromium import WAIT_MS
from tests.browser.inspection import sticks_out
from tests.browser.test_run_page import ASSERTION, TESTS, plan
from tests.conftest import OPERATOR_TOKEN
from tests.relay.stories import Story, regressed

pytestmark = pytest.mark.browser


@pytest.fixture(params=[True, False], ids=["with a script", "without a script"])
def context_of_browser(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900}, java_script_enabled=request.param)
    opened.set_default_timeout(WAIT_MS)
    yield opened
    opened.close()


@pytest.fixture
def page(context_of_browser: BrowserContext, url: str) -> Page:
    return context_of_browser.new_page()


@pytest.fixture
def red_run(story: Story) -> int:
    run = story.open()
    plan(story)
    story.run_all({TESTS[3]: regressed(TESTS[3], ASSERTION)})
    return run


def test_an_operator_goes_from_a_failure_to_a_new_run(
    page: Page, url: str, red_run: int, app: FastAPI, context: RelayContext
) -> None:
    page.goto(f"{url}/runs/{red_run}")
    expect(page.locator("#operate form")).to_have_count(0)
    page.locator("#operate").get_by_role("link", name="Sign in").click()

    page.get_by_label("Token", exact=True).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This token is not valid here.")
    page.get_by_label("Token", exact=True).fill(OPERATOR_TOKEN)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{url}/runs/{red_run}")

    first = page.locator("#operate summary").first
    expect(first).to_have_text("Run the failed tests again")
    confirm = page.get_by_role("button", name="Yes, run 1 test again")
    expect(confirm).not_to_be_visible()
    first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(confirm).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{url}/runs/{red_run + 1}")
    expect(page.locator("#about")).to_contain_text(f"rerun of run {red_run}")

    page.get_by_role("link", name="Audit log").click()
    expect(page.locator("table.actions tbody tr").first).to_contain_text("ran again")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    page.goto(f"{url}/audit-log")
    expect(page).to_have_url(f"{url}/sign-in?next=%2Faudit-log")


def test_the_pages_fit_a_phone(browser: Browser, url: str, red_run: int) -> None:
    phone = browser.new_page(viewport={"width": 360, "height": 740})
    phone.set_default_timeout(WAIT_MS)
    phone.goto(f"{url}/sign-in?next=/runs/{red_run}")
    assert not sticks_out(phone)
    phone.get_by_label("Token", exact=True).fill(OPERATOR_TOKEN)
    phone.keyboard.press("Enter")
    phone.locator("#operate summary").first.click()
    assert not sticks_out(phone)
    phone.goto(f"{url}/audit-log")
    assert not sticks_out(phone)
    phone.close()


def test_scripts_do_not_see_the_cookie(browser: Browser, url: str, red_run: int) -> None:
    page = browser.new_page()
    page.goto(f"{url}/sign-in")
    page.get_by_label("Token", exact=True).fill(OPERATOR_TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    page.close()
