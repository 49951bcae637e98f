"""In a real browser, with the keyboard alone, with a script and without: what each page is there for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from relay.context import RelayContext
from relay.settings import RelaySettings
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_backend_rows import backend
from tests.benchmarks.seed_rows import Size
from tests.browser.hands import Hands
from tests.browser.inspection import sign_in, visitor
from tests.relay.stories import Story

pytestmark = pytest.mark.browser

_RUN = re.compile(r"/runs/\d+$")


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    return settings.model_copy(update={"manifest_dir": Path(__file__).parents[2] / "test_manifests"})


@pytest.fixture(params=[True, False], ids=["with a script", "without a script"])
def hands(request: pytest.FixtureRequest, browser: Browser, url: str, context: RelayContext) -> Iterator[Hands]:
    """Of an operator, in front of a filled record."""
    size = Size(runs=60, tests=24, considered=60, reports=300, deliveries=120)
    seed(context.store, size, context.now() - timedelta(seconds=5))
    with visitor(browser, script=request.param) as opened:
        page = opened.new_page()
        sign_in(page, url)
        yield Hands(page, url, page.locator("main"))


def now(hands: Hands) -> None:
    hands.press(hands.main.locator(".now-run a.headline").first)
    expect(hands.page).to_have_url(_RUN)


def runs(hands: Hands) -> None:
    hands.choose("State", "finished", "Filter")
    hands.see("a.headline", "break with this change")
    hands.press(hands.main.locator("a.headline").first)
    expect(hands.page).to_have_url(_RUN)


def run(hands: Hands) -> None:
    """From a broken test to why it ran and to how it did before, and from there to a run."""
    hands.press(hands.main.locator("#results .test summary").first)
    expect(hands.main.locator("#results .reasons").first).to_be_visible()
    hands.follow("How this test did before")
    hands.see("h1", "TestSeededSPYRE::test_operator")
    hands.press(hands.main.locator(".th-strip a").first)
    expect(hands.page).to_have_url(re.compile(r"/runs/\d+"))


def left_out(hands: Hands) -> None:
    hands.find("Part of a test's name", "operator_1")
    hands.press(hands.main.locator("#left-out .test summary").first)
    expect(hands.main.locator("#left-out .reasons").first).to_be_visible()
    hands.follow("clear")
    expect(hands.page.get_by_label("Part of a test's name")).to_have_value("")


def call_off(hands: Hands) -> None:
    hands.press(hands.main.locator("#operate summary", has_text="Cancel this run"))
    hands.press(hands.main.get_by_role("button", name="Yes, cancel"))
    hands.see(".verdict", "cancelled")
    hands.follow("What operators did with this run")
    hands.see("table.actions tbody tr", "cancelled")


def trunk(hands: Hands) -> None:
    hands.choose("Columns", "one for each job", "Show")
    expect(hands.main.locator("thead tr")).to_have_count(2)
    hands.press(hands.main.locator("a.trunk-title").nth(3))
    expect(hands.page).to_have_url(re.compile("/commits/"))


def one_test(hands: Hands) -> None:
    hands.find("Part of a test's id", "operator_36")
    hands.press(hands.main.locator("a.headline").first)
    hands.see("h1", "operator_36")


def change(hands: Hands) -> None:
    hands.press(hands.main.locator("#tests .test summary").first)
    expect(hands.main.locator("#tests .reasons").first).to_be_visible()
    hands.follow("show them")
    hands.see("#tests h2", "only")
    hands.follow("Show all groups")
    hands.press(hands.main.locator(".ch-runs a").first)
    expect(hands.page).to_have_url(_RUN)


def backends(hands: Hands) -> None:
    hands.follow("30 days")
    hands.follow(backend(1))
    hands.see("h1", backend(1))
    hands.press(hands.main.locator("a.crcr-cell").first)
    hands.see("#job", "build")
    hands.follow("close")
    expect(hands.main.locator("#job")).to_have_count(0)


def letters(hands: Hands) -> None:
    hands.press(hands.main.locator(".post-counts a", has_text="dead"))
    hands.press(hands.main.locator(".post-list a.headline").first)
    hands.see("header.verdict", "dead")
    hands.press(hands.main.locator("summary", has_text="Send it again"))
    hands.press(hands.main.get_by_role("button", name="again"))
    hands.see("header.verdict", "due")


def inbox(hands: Hands) -> None:
    hands.press(hands.main.locator("a.headline").nth(2))
    name = hands.main.locator("code[data-copy]").inner_text()
    hands.follow("The inbox")
    hands.find("Delivery, as GitHub names it", name)
    expect(hands.main.locator("tbody tr")).to_have_count(1)


def quality(hands: Hands) -> None:
    hands.follow("365 days")
    hands.press(hands.main.locator("details[data-key=days] > summary"))
    expect(hands.main.locator("details[data-key=days] table")).to_be_visible()


def manifests(hands: Hands) -> None:
    hands.find("Part of a file's name, or a rule", "no such file")
    hands.see("#findings", "No finding matches")
    hands.follow("clear")
    hands.choose("Excuses that run out within", "365", "Filter")
    expect(hands.page).to_have_url(re.compile("within=365"))


def audits(hands: Hands) -> None:
    hands.press(hands.main.locator("h2 a").first)
    expect(hands.page).to_have_url(_RUN)


def audit_log(hands: Hands) -> None:
    hands.choose("What", "signed in", "Filter")
    hands.see("table.actions tbody tr", "signed in")
    hands.press(hands.main.locator("table.actions th a").first)
    expect(hands.page).to_have_url(re.compile("actor="))


def skip(hands: Hands) -> None:
    """The first stop leads past what is the same on every page."""
    hands.page.keyboard.press("Tab")
    expect(hands.page.get_by_text("Skip to the content")).to_be_focused()
    hands.page.keyboard.press("Enter")
    hands.page.keyboard.press("Tab")
    expect(hands.main.get_by_role("combobox", name="State")).to_be_focused()


def menu(hands: Hands) -> None:
    hands.press(hands.page.locator("header").get_by_role("link", name="Manifests"))
    expect(hands.page.locator("header [aria-current=page]")).to_have_text("Manifests")


def leave(hands: Hands) -> None:
    hands.press(hands.page.get_by_role("button", name="Sign out"))
    hands.press(hands.page.get_by_role("link", name="Sign in"))
    expect(hands.page.get_by_label("Token", exact=True)).to_be_visible()


def test_the_single_keys_are_turned_off_for_good(page: Page, url: str, story: Story) -> None:
    """WCAG 2.2, 2.1.4: one key alone does nothing for who does not want it."""
    story.open()
    hands, first = Hands(page, url, page.locator("main")), page.locator("a.headline").first
    hands.open("/")
    page.keyboard.press("j")
    expect(first).to_be_focused()
    hands.press(page.get_by_role("button", name="Turn these keys off"))
    hands.open("/")
    page.keyboard.press("j")
    expect(first).not_to_be_focused()
    hands.press(page.get_by_role("button", name="Turn these keys on"))
    page.keyboard.press("j")
    expect(first).to_be_focused()


#: In this order: the last ones change the record, and the one at the end signs out.
WAYS: tuple[tuple[str, Callable[[Hands], None]], ...] = (
    *(("/", skip), ("/", menu), ("/", runs), ("/now", now), ("/runs/59", run), ("/runs/59", left_out)),
    *(("/trunk", trunk), ("/tests", one_test), ("/pulls/60", change), ("/backends", backends), ("/quality", quality)),
    *(("/manifests", manifests), ("/audits", audits), ("/audit-log", audit_log), ("/deliveries/inbox", inbox)),
    *(("/deliveries", letters), ("/runs/60", call_off), ("/", leave)),
)


def test_each_page_is_used_without_a_mouse(hands: Hands, subtests: pytest.Subtests) -> None:
    for path, use in WAYS:
        with subtests.test(page=path, way=use.__name__):
            hands.open(path)
            use(hands)
