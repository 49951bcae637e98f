"""Pictures of every page at two widths, light and dark: `make shots`, or `python -m tests.browser.shots FOLDER`.

The record is made for them (`tests.benchmarks.seed`), so pages have something to show. Nothing is compared: people
look.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.bench_pages import addresses
from tests.benchmarks.bench_pages import serving as serving_seeded
from tests.benchmarks.seed_rows import Size
from tests.browser.chromium import ARGUMENTS, NO_BROWSER, installed
from tests.relay.serving import serving

WIDTHS = (360, 1280)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_RUNS = 120
_HEIGHT = 900
#: A page that is longer than this shows no more of its kind.
_LONGEST = 4_000


def main() -> int:
    """Write the pictures; how many there are is said at the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.shots")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder: Path = parser.parse_args().folder
    program = installed()
    if program is None:
        parser.error(NO_BROWSER)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        record = f"sqlite:///{made}/relay.db"
        with (
            serving_seeded(record, Path(made), Size(runs=_RUNS, reports=600, deliveries=200)) as app,
            serving(app) as url,
        ):
            browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
            pictures = sum(_take(browser, url, address, folder) for address in addresses(app.state.relay))
            browser.close()
    sys.stdout.write(f"{pictures} pictures in {folder}\n")
    return 0


def _take(browser: Browser, url: str, address: str, folder: Path) -> int:
    """The pictures of one page. Raises AssertionError when it does not answer, or sticks out of its width."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": width, "height": _HEIGHT}, color_scheme=scheme)
            answer = page.goto(url + address)
            assert answer is not None
            assert answer.ok, f"{address} answers {answer.status}"
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{address} is {wide} pixels wide in {width}"
            tall = min(_LONGEST, page.evaluate("document.documentElement.scrollHeight"))
            page.set_viewport_size({"width": width, "height": max(_HEIGHT, tall)})
            page.screenshot(path=folder / f"{slug(address)}-{width}-{scheme}.png")
            page.close()
    return len(WIDTHS) * len(SCHEMES)


def slug(address: str) -> str:
    """A file's name for an address."""
    return re.sub(r"[^a-z0-9]+", "-", address.lower()).strip("-")[:80] or "runs"


if __name__ == "__main__":
    sys.exit(main())
