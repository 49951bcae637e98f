"""Looks over the page that is open as a demanding reader would: at both widths, light and dark, everything unfolded, by
axe-core, for what sticks out of a phone, and for what the keyboard cannot reach or see."""

from __future__ import annotations

import re
from collections.abc import Iterable

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.axe import complaints
from tests.browser.chromium import WAIT_MS
from tests.browser.shots import SCHEMES, WIDTHS
from tests.conftest import OPERATOR_TOKEN

_HEIGHT = 900
#: To which a page can shrink (WCAG 2.2, 1.4.10): also what is left of 1280 px at four times the size.
_NARROWEST = 320
# Of a list, the first few: the others are like them.
_UNFOLD = """() => {
  for (const one of document.querySelectorAll("details")) {
    const item = one.closest("li");
    one.open = !item || [...item.parentElement.children].indexOf(item) < 2;
  }
}"""
# What comes later in a list or a table is like what is left, and axe takes its time over each.
_SHORTEN = """() => {
  const later = "tbody > tr:nth-child(n+6), ol > li:nth-child(n+6), ul > li:nth-child(n+6)";
  for (const one of document.querySelectorAll(later)) one.remove();
}"""
# Focuses whatever can be, one after the other, as the keyboard does. A stop is hidden when something else lies on the
# middle of that part of it which is in the window.
_STOPS = """() => {
  const faults = [];
  const wanted = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const name = one => one.outerHTML.replace(/\\s+/g, " ").slice(0, 120);
  for (const one of document.querySelectorAll(wanted)) {
    if (one.disabled || !one.checkVisibility({ visibilityProperty: true })) continue;
    one.focus({ focusVisible: true });
    if (document.activeElement !== one) { faults.push("cannot be focused: " + name(one)); continue; }
    const style = getComputedStyle(one);
    if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) {
      faults.push("does not show that it is focused: " + name(one));
    }
    const box = one.getClientRects()[0];
    const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    const seen = right > left && bottom > top && document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!seen) faults.push("is out of sight when focused: " + name(one));
    else if (!one.contains(seen) && !seen.contains(one)) faults.push(`is beneath ${name(seen)}: ${name(one)}`);
  }
  document.activeElement.blur();
  for (const box of document.querySelectorAll(".scroll, pre")) box.scroll(0, 0);
  scroll(0, 0);
  return faults;
}"""
_SAID = """() => {
  const main = document.querySelector("main").cloneNode(true);
  for (const ours of main.querySelectorAll("button[data-ours], noscript, #announce, time")) ours.remove();
  return [document.title, main.textContent].join(" ");
}"""


def inspect(page: Page) -> None:
    """Raises AssertionError with every fault of the page that is open."""
    found = _faults(page)
    assert not found, f"{page.url}\n" + "\n".join(found)


def _faults(page: Page) -> list[str]:
    page.evaluate(_UNFOLD)
    found = [f"{width} px: sticks out" for width in (_NARROWEST, *WIDTHS) if sticks_out(page, width)]
    found += [f"{width} px: {fault}" for width in WIDTHS for fault in _out_of_reach(page, width)]
    page.evaluate(_SHORTEN)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            lines = complaints(page, colours_only=scheme != SCHEMES[0])
            found += [f"{width} px, {scheme}: {line}" for line in lines]
    return found


def sticks_out_of_a_phone(browser: Browser, url: str, paths: Iterable[str]) -> list[str]:
    """The pages that are wider than a phone, light or dark."""
    found = []
    with visitor(browser) as reader:
        page = reader.new_page()
        for path in paths:
            page.goto(url + path)
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                if sticks_out(page):
                    found.append(f"{path}, {scheme}")
    return found


def sticks_out(page: Page, width: int = WIDTHS[0]) -> bool:
    """Whether something makes the page that is open wider than this."""
    page.set_viewport_size({"width": width, "height": _HEIGHT})
    return bool(page.evaluate("document.documentElement.scrollWidth") > width)


def _out_of_reach(page: Page, width: int) -> list[str]:
    page.set_viewport_size({"width": width, "height": _HEIGHT})
    return [str(fault) for fault in page.evaluate(_STOPS)]


def said(page: Page) -> str:
    """What the page tells, less what changes with every moment and the buttons that only a script can offer."""
    return re.sub(r"\d+", "#", " ".join(page.evaluate(_SAID).split()))


def visitor(browser: Browser, *, script: bool = True) -> BrowserContext:
    """A browser of its own, with or without JavaScript."""
    opened = browser.new_context(viewport={"width": 1280, "height": _HEIGHT}, java_script_enabled=script)
    opened.set_default_timeout(WAIT_MS)
    return opened


def sign_in(page: Page, url: str) -> None:
    """As an operator, at the form that people use."""
    page.goto(f"{url}/sign-in")
    page.get_by_label("Token", exact=True).fill(OPERATOR_TOKEN)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()
