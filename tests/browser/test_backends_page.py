"""In a real browser: from the list of backends to the log of a failed job, and a dead letter sent again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from relay.settings import RelaySettings
from tests.browser.inspection import sticks_out_of_a_phone
from tests.conftest import OPERATOR_TOKEN, OpenApp
from tests.relay.hud.told import told
from tests.relay.serving import serving
from tests.relay.web.readers import Readers
from tests.relay.web.test_page_deliveries import arrived, dead, dispatched, put

pytestmark = pytest.mark.browser


@pytest.fixture
def readers(settings: RelaySettings, open_app: OpenApp) -> Readers:
    return Readers(settings, open_app)


@pytest.fixture
def url(readers: Readers) -> Iterator[str]:
    with serving(readers.app) as address:
        yield address


def fill(readers: Readers) -> None:
    """Jobs of one backend on several pull requests, numbered ones and long names among them."""
    failed = [{"name": "test_add", "classname": "TestOps", "message": "1 != 2"}]
    for pr in range(1, 6):
        for job in ("build", "shard-1", "shard-2", "shard-3", "a-job-with-a-rather-long-name-" * 3):
            told(readers.context.store, "success", pr=pr, job_name=job)
    told(readers.context.store, "failure", pr=9, job_name="build", failed_tests_detail=failed)


def test_from_the_list_to_the_failed_test(page: Page, url: str, readers: Readers) -> None:
    fill(readers)
    page.goto(f"{url}/backends")
    page.get_by_role("link", name="a/l2").click()
    expect(page.locator("h1")).to_contain_text("a/l2")
    expect(page.locator("#readiness")).to_contain_text("Target of L3")
    page.get_by_role("link", name="X failure").click()
    expect(page).to_have_url(f"{page.url.split('?')[0]}?job={page.url.split('job=')[1]}")
    job = page.locator("#job")
    expect(job).to_contain_text("build for #9")
    expect(job).to_contain_text("TestOps::test_add")
    job.get_by_role("link", name="close").click()
    expect(page.locator("#job")).to_have_count(0)


def test_the_keyboard_reaches_and_opens_a_cell(page: Page, url: str, readers: Readers) -> None:
    told(readers.context.store, "failure")
    page.goto(f"{url}/backends/a/l2")
    cell = page.locator("a.crcr-cell")
    cell.focus()
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#job")).to_be_visible()


def test_an_operator_sends_a_dead_letter_again(page: Page, url: str, readers: Readers) -> None:
    (gone,) = dead(readers.context)
    page.goto(f"{url}/deliveries/{gone}")
    page.locator("#letter").get_by_role("link", name="Sign in").click()
    page.locator("input[name=token]").fill(OPERATOR_TOKEN)
    page.locator("input[name=token]").press("Enter")
    expect(page).to_have_url(f"{url}/deliveries/{gone}")
    page.get_by_text("Send it again").click()
    page.get_by_role("button", name=f"Send letter {gone} again").click()
    expect(page.locator("header.verdict")).to_contain_text("due")


def test_an_open_list_of_letters_notices_what_died(page: Page, url: str, readers: Readers) -> None:
    put(readers.context)
    page.clock.install()
    page.goto(f"{url}/deliveries")
    expect(page.locator("#letters")).to_contain_text("Nothing is stuck")
    dead(readers.context)
    page.clock.run_for(20_000)
    expect(page.locator("#letters")).to_contain_text("1 dead letter needs a person")


def test_nothing_sticks_out_of_a_phone(browser: Browser, url: str, readers: Readers) -> None:
    fill(readers)
    (gone,) = dead(readers.context, last_error="x" * 500, dispatch_id=dispatched(readers.context, "d" * 150))
    row = arrived(readers.context, "d" * 150, note="y" * 300)
    paths = ("/backends", "/backends?event=nightly", "/backends/a/l2", "/deliveries", "/deliveries/inbox")
    assert sticks_out_of_a_phone(browser, url, [*paths, f"/deliveries/{gone}", f"/deliveries/inbox/{row}"]) == []


def test_the_pages_are_whole_without_javascript(browser: Browser, url: str, readers: Readers) -> None:
    fill(readers)
    context = browser.new_context(java_script_enabled=False)
    try:
        plain = context.new_page()
        plain.goto(f"{url}/backends/a/l2?days=30")
        plain.get_by_role("link", name="X failure").click()
        expect(plain.locator("#job")).to_contain_text("1 != 2")
        plain.goto(f"{url}/deliveries")
        plain.get_by_role("textbox", name="To").fill("a/l2")
        plain.get_by_role("button", name="Filter").click()
        expect(plain.locator("#letters")).to_contain_text("No letter fits")
    finally:
        context.close()
