"""What axe-core finds on the page that is open: broken rules of WCAG 2.2 A and AA, and of good practice.

The engine is the one that the package `axe-playwright-python` brings; it is put into the page past its content security
policy, as a debugger would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_COLOURS = ("color-contrast", "link-in-text-block")
_RUN = """async tags => {
  const found = await axe.run(document, { runOnly: tags, resultTypes: ["violations", "incomplete"], preload: false });
  const told = one => ({ target: one.target.flat().join(" "), why: one.failureSummary ?? "", });
  const rules = broken => broken.map(rule => ({ rule: rule.id, help: rule.help, nodes: rule.nodes.map(told) }));
  return { broken: rules(found.violations), open: rules(found.incomplete) };
}"""
#: What axe may leave undecided: the contrast of glyphs, of words in pictures, and of what is partly scrolled out of its
#: box. All of them have colours of the sheet, which `tests.relay.web.test_palette` holds against each other.
_UNDECIDED = frozenset({"color-contrast"})
_SHOWN = 3


def complaints(page: Page, *, colours_only: bool = False) -> list[str]:
    """One line for each broken rule, with the first places. Empty when all is well. `colours_only`: for a page that was
    looked at in other colours before."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"{AXE_SCRIPT};0")
    found = page.evaluate(_RUN, list(_COLOURS if colours_only else _TAGS))
    return _lines([*found["broken"], *(rule for rule in found["open"] if rule["rule"] not in _UNDECIDED)])


def _lines(rules: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"{rule['rule']}, {len(rule['nodes'])} times: {rule['help']}\n"
        + "\n".join(f"    {node['target']}: {' '.join(node['why'].split())[:300]}" for node in rule["nodes"][:_SHOWN])
        for rule in rules
    ]
