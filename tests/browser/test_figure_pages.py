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
from tests.browser.inspection import sticks_out_of_a_phone
from tests.conftest import OPERATOR_TOKEN, WORKER_TOKEN
from tests.relay.hud.told import told
from tests.relay.runs.test_trunk import end, push
from tests.relay.stories import REPO, Story, planned, report_of
from tests.relay.test_manifest_report import GOOD

pytestmark = pytest.mark.browser

#: How many cells the lines have: one number when the grid is whole.
CELLS = "[...new Set([...document.querySelectorAll('tr[data-commit]')].map(line => line.cells.length))]"

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


def test_the_trunk_grows_where_it_is_read_and_leads_to_a_run(page: Page, url: str, story: Story) -> None:
    """A job that only an older window has is a column of all; and what is new comes on top of what was read."""
    told(story.store, "success", pr=0, sha=f"{5:040}", job_name="now-and-then")
    page.goto(f"{url}/trunk")
    lines = page.locator("tr[data-commit]")
    expect(lines).to_have_count(50)
    page.get_by_label("Columns").select_option("job")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("thead tr")).to_have_count(2)
    assert columns(page) == ["selected tests", "CI / build"]
    page.locator("[data-older]").scroll_into_view_if_needed()
    expect(lines).to_have_count(60)
    assert columns(page) == ["selected tests", "CI / build", "CI / now-and-then"]
    expect(page.locator("th[data-owner='a/l2']")).to_have_attribute("colspan", "2")
    assert page.evaluate(CELLS) == [4]
    expect(page.locator("[data-outcome=passed] [data-count]")).to_have_text("3")
    expect(page.get_by_role("link", name="older commits")).to_have_count(0)

    push(story, 61, title="Commit number 61")
    expect(lines.first).to_contain_text("number 61", timeout=WAIT_MS)
    expect(lines).to_have_count(61)
    assert page.evaluate(CELLS) == [4]
    page.get_by_role("link", name="selected tests on spyre: failed, 1 broken test").click()
    expect(page.locator("h1")).to_contain_text("1 test breaks")


def test_lines_far_from_the_reader_leave_the_page_and_come_back(page: Page, url: str, story: Story) -> None:
    for number in range(61, 231):
        push(story, number)
    page.goto(f"{url}/trunk")
    lines, away = page.locator("tr[data-commit]"), page.locator("tbody[data-away]")
    for bodies in range(2, 6):
        page.locator("[data-older]").scroll_into_view_if_needed()
        expect(page.locator("tbody")).to_have_count(bodies)
    expect(page.get_by_text("Commit number 1 with")).to_be_attached()
    expect(away).not_to_have_count(0)
    assert lines.count() < 230
    page.locator(".trunk-scroll").evaluate("box => box.scrollTo(0, 0)")
    expect(lines.first).to_contain_text("commit 230")
    expect(page.locator("[data-outcome=running] [data-count]")).to_have_text("228")


def test_a_focused_line_keeps_its_focus_when_it_is_renewed(page: Page, url: str, story: Story) -> None:
    page.goto(f"{url}/trunk")
    page.locator("[data-older]").scroll_into_view_if_needed()
    expect(page.locator("tr[data-commit]")).to_have_count(60)
    title = page.get_by_role("link", name="number 60")
    title.focus()
    told(story.store, "failure", pr=0, sha=f"{60:040}", job_name="another")
    push(story, 61)
    expect(page.locator("tr[data-commit]").nth(1)).to_contain_text("✗", timeout=WAIT_MS)
    expect(title).to_be_focused()


def test_more_new_commits_than_a_window_holds_leave_no_gap(page: Page, url: str, story: Story) -> None:
    page.goto(f"{url}/trunk")
    page.locator("[data-older]").scroll_into_view_if_needed()
    lines = page.locator("tr[data-commit]")
    expect(lines).to_have_count(60)
    for number in range(61, 121):
        push(story, number)
    expect(lines.first).to_contain_text("commit 120", timeout=WAIT_MS)
    keys = [int(key) for key in lines.evaluate_all("lines => lines.map(line => line.dataset.commit)")]
    assert keys == list(range(keys[0], keys[0] - len(keys), -1))


def test_who_comes_back_finds_the_place_again(page: Page, url: str, story: Story) -> None:
    page.goto(f"{url}/trunk")
    page.locator("[data-older]").scroll_into_view_if_needed()
    expect(page.locator("tr[data-commit]")).to_have_count(60)
    page.get_by_text("Commit number 4 with").click()
    expect(page).to_have_url(f"{url}/commits/{4:040}")
    page.go_back()
    expect(page.locator("tr[data-commit]")).to_have_count(60)
    expect(page.get_by_text("Commit number 4 with")).to_be_in_viewport()


def columns(page: Page) -> list[str]:
    return [name.strip() for name in page.locator("th[data-column]").all_inner_texts()]


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


def test_the_trunk_leads_to_older_commits_without_javascript(plain: Page, url: str, story: Story) -> None:
    plain.goto(f"{url}/trunk?group=job")
    plain.get_by_role("link", name="older commits").click()
    expect(plain.locator("tr[data-commit]")).to_have_count(10)
    plain.get_by_role("link", name="newest commits").first.click()
    expect(plain.locator("tr[data-commit]")).to_have_count(50)


def test_manifests_are_narrowed_without_javascript(plain: Page, url: str, story: Story) -> None:
    plain.goto(f"{url}/manifests")
    expect(plain.locator("h1")).to_contain_text("1 manifest in use")
    plain.get_by_role("combobox", name="Findings").select_option("error")
    plain.get_by_role("button", name="Filter").click()
    expect(plain.locator("#findings")).to_contain_text("No finding matches")


def test_nothing_sticks_out_of_a_phone(browser: Browser, url: str, story: Story) -> None:
    assert sticks_out_of_a_phone(browser, url, PATHS) == []
