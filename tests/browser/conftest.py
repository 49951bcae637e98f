"""A browser, a served application, and a page that minds every complaint."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from relay.context import RelayContext
from tests.browser.chromium import ARGUMENTS, NO_BROWSER, WAIT_MS, installed
from tests.relay.serving import serving
from tests.relay.stories import Story


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's chromium. CI must have one; elsewhere a machine without it skips."""
    found = installed()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def story(context: RelayContext) -> Story:
    """What happens is told to the record of the served application."""
    return Story(context.store, now=context.now(), speaks=True)


@pytest.fixture
def url(app: FastAPI) -> Iterator[str]:
    """Where the application is served."""
    with serving(app) as address:
        yield address


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """A desktop page that fails the test over any complaint of the browser: a script error, a blocked resource. It is
    closed before the server at `url` is, whose end would be a complaint."""
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(WAIT_MS)
    opened.on("console", note)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.close()
    assert complaints == []
