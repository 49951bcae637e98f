"""Hands on a keyboard and nothing else: Tab until what is wanted has the focus, then keys."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

#: No page of the tests has as many stops.
_STOPS = 400
# How many stops there may be, by the order of the page, from where the focus is to an element. Behind it: 0.
_AHEAD = """wanted => {
  const stops = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
  const seen = [...document.querySelectorAll(stops)].filter(
    one => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }));
  return Math.max(0, seen.indexOf(wanted) - seen.indexOf(document.activeElement));
}"""


@dataclass(frozen=True, slots=True)
class Hands:
    """On one page. `reach` and what uses it raise AssertionError when Tab does not lead there."""

    page: Page
    url: str
    main: Locator

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def reach(self, wanted: Locator) -> None:
        """Tab to an element, from where the focus is. To look after every stop would take most of the time."""
        expect(wanted).to_be_visible()
        for _ in range(wanted.evaluate(_AHEAD) - 1):
            self.page.keyboard.press("Tab")
        for _ in range(_STOPS):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("one => one === document.activeElement"):
                return
        raise AssertionError(f"the keyboard does not reach {wanted}")

    def follow(self, name: str) -> None:
        """A link, by its words."""
        self.press(self.main.get_by_role("link", name=name).first)

    def press(self, wanted: Locator) -> None:
        """A link, a button, or what opens something."""
        self.reach(wanted)
        self.page.keyboard.press("Enter")

    def find(self, label: str, text: str) -> None:
        """Type into a field and send its form."""
        self.reach(self.main.get_by_label(label, exact=True))
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def choose(self, label: str, option: str, button: str) -> None:
        """Type the beginning of an option and send the form."""
        self.reach(self.main.get_by_role("combobox", name=label, exact=True))
        self.page.keyboard.type(option)
        self.press(self.main.get_by_role("button", name=button, exact=True))

    def see(self, selector: str, text: str) -> None:
        expect(self.main.locator(selector).first).to_contain_text(text)
