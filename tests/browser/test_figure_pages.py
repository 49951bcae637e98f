"""In a real browser: the trunk, the quality of selections and the manifests, by mouse and by keyboard, on a phone, and
without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr

from relay.context import RelayContext
from relay.settings import RelaySettings
from tests.browser.chromium import WAIT_MS
from tests.conftest import OPERATOR_TOKEN, WORKER_TOKEN
from tests.relay.hud.told import told
from tests.relay.runs.test_trunk import end, push
from tests.relay.stories import REPO, Story, planned, report_of
from tests.relay.test_manifest_report import GOOD

pytestmark = pytest.mark.browser

PATHS = ("/trunk", "/trunk?group=job", "/quality", "/manifests")


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    (settings.manifest_dir / "ops.yaml").write_text(GOOD)
    tokens = {"worker_token": SecretStr(WORKER_TOKEN), "operator_token": SecretStr(OPERATOR_TOKEN)}
    return settings.model_copy(update={"upstream_repo": REPO, **tokens})


@pytest.fixture
def story(app: FastAPI, context: RelayContext) -> Story:
    """Sixty commits, the second of which broke something, with a backend's job on the newest, and time saved."""
    tale = Story(context.store, now=context.now())
    for number in range(1, 61):
        push(tale, number, title=f"Commit number {number} with quite a long title that has to wrap somewhere")
        if number <= 2:
            end(tale, broken=number == 2)
    told(context.store, "success", pr=0, sha=f"{60:040}")
    return tale


def test_the_trunk_leads_to_older_commits_and_to_a_run(page: Page, url: str, story: Story) -> None:
    page.goto(f"{url}/trunk")
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_label("Columns").select_option("job")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("thead tr")).to_have_count(2)
    page.get_by_role("link", name="older commits").click()
    expect(page.locator("tbody tr")).to_have_count(10)
    page.get_by_role("link", name="selected tests on spyre: failed, 1 broken test").click()
    expect(page.locator("h1")).to_contain_text("1 test breaks")


def test_a_new_commit_appears_by_itself(page: Page, url: str, story: Story) -> None:
    page.goto(f"{url}/trunk")
    expect(page.locator("tbody tr").first).to_contain_text("number 60")
    push(story, 61, title="Commit number 61")
    expect(page.locator("tbody tr").first).to_contain_text("number 61", timeout=WAIT_MS)


def test_the_figures_of_a_chart_open_by_keyboard(page: Page, url: str, story: Story) -> None:
    plan = report_of([[planned("test/test_ops.py::TestOpsSPYRE::test_add__float32")]])
    story.select(plan.model_copy(update={"expected_seconds": 60.0, "seconds_saved": 240.0}))
    page.goto(f"{url}/quality")
    expect(page.locator("svg.chart")).to_have_count(2)
    summary = page.locator("details[data-key=days] > summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details[data-key=days] table")).to_be_visible()


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    """A phone without JavaScript."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    yield context.new_page()
    context.close()


def test_manifests_are_narrowed_without_javascript(plain: Page, url: str, story: Story) -> None:
    plain.goto(f"{url}/manifests")
    expect(plain.locator("h1")).to_contain_text("1 manifest in use")
    plain.get_by_role("combobox", name="Findings").select_option("error")
    plain.get_by_role("button", name="Filter").click()
    expect(plain.locator("#findings")).to_contain_text("No finding matches")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_of_a_phone(browser: Browser, url: str, story: Story, scheme: str) -> None:
    phone = browser.new_page(
        viewport={"width": 360, "height": 740}, color_scheme="dark" if scheme == "dark" else "light"
    )
    try:
        for path in PATHS:
            phone.goto(url + path)
            width = phone.evaluate("document.documentElement.scrollWidth")
            assert width <= 360, f"{path} is {width} px wide"
    finally:
        phone.close()
