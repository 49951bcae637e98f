"""In a real browser: every page, filled, as a reader and as an operator see it. None has a fault that axe-core finds,
sticks out of a phone, hides something from the keyboard, needs a script to tell what it has to tell, or asks for more
than itself and its two files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request

from relay.context import RelayContext
from relay.settings import RelaySettings
from tests.benchmarks.bench_pages import addresses
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_rows import Size
from tests.browser.inspection import inspect, said, sign_in, visitor

pytestmark = pytest.mark.browser

_FILES = {"/static/relay.css", "/static/relay.js", "/static/icon.svg"}


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    return settings.model_copy(update={"manifest_dir": Path(__file__).parents[2] / "test_manifests"})


@pytest.fixture
def pages(context: RelayContext) -> tuple[str, ...]:
    seed(context.store, Size(runs=60, tests=24, considered=60, reports=300, deliveries=120), context.now())
    return addresses(context)


def asked_for_more(page: Page, address: str) -> set[str]:
    """Opens a page. What it asks for beyond itself, its two files and its icon before it is there; then it listens."""
    paths: set[str] = set()

    def note(request: Request) -> None:
        if request.resource_type != "eventsource":
            paths.add(urlsplit(request.url).path)

    page.on("request", note)
    answer = page.goto(address)
    assert answer is not None
    assert answer.ok, f"answers {answer.status}"
    return paths - _FILES - {urlsplit(address).path, urlsplit(page.url).path}


def is_for_operators(page: Page) -> bool:
    """Whether the page shows who signed in more than it shows everybody."""
    return page.locator("main form[method=post]").count() > 0 or urlsplit(page.url).path == "/audit-log"


def test_every_page_as_a_reader_sees_it(
    browser: Browser, url: str, pages: tuple[str, ...], subtests: pytest.Subtests
) -> None:
    with visitor(browser) as reader, visitor(browser, script=False) as plain:
        plainly = plain.new_page()
        for address in pages:
            # A page of its own: one that is left may still ask for what happened meanwhile.
            with subtests.test(page=address), reader.new_page() as page:
                more = asked_for_more(page, url + address)
                assert more == set()
                plainly.goto(url + address)
                assert said(plainly) == said(page)
                inspect(page)


def test_every_page_as_an_operator_sees_it(
    browser: Browser, url: str, pages: tuple[str, ...], subtests: pytest.Subtests
) -> None:
    with visitor(browser) as operator, visitor(browser, script=False) as plain:
        page, plainly = operator.new_page(), plain.new_page()
        sign_in(page, url)
        sign_in(plainly, url)
        for address in pages:
            with subtests.test(page=address):
                page.goto(url + address)
                if is_for_operators(page):
                    plainly.goto(url + address)
                    assert said(plainly) == said(page)
                    inspect(page)
