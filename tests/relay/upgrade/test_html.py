"""The report as a page of its own: whole, escaped, and fenced in by its own policy."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

from relay.upgrade.html import to_html
from selector.types import BaseTest
from selector.upgrade.types import ChangedTest, Duty, Finding, FunnelStep, Origin, TestChange, UpgradeReport


def test_everything_is_on_the_page(report: UpgradeReport) -> None:
    page = to_html(report)
    for part in (
        *("Upgrade v2.13.0 to v2.14.0 on spyre", "Must assess (1)", "test/test_nn.py::TestPool::test_max"),
        *("make_input draws from another range", "nn.yaml:7 mandatory_success", "proposed: skip"),
        *("dtypes, gained bfloat16", "Padding moved to a file of its own.", "passed on v2.13.0, failed on v2.14.0"),
        *("test/odd.py does not parse", f"/blob/{'a' * 40}/test/common.py#L4-L9"),
    ):
        assert part in page, part
    assert "Written by the model a-model" in page


def test_folders_are_told_by_lines(report: UpgradeReport) -> None:
    assert "<code>test/common.py:5-11</code> after" in to_html(replace(report, origin=Origin()))


def test_only_our_own_style_and_script_may_run(report: UpgradeReport) -> None:
    """By the digests of what stands in the page."""
    page = to_html(report)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy[1]
    assert "default-src &#39;none&#39;" in policy[1]
    assert not re.findall(r"<(?:link|img|iframe)|src=|@import|url\(", page)


def test_text_of_strangers_is_no_markup(report: UpgradeReport) -> None:
    odd = ChangedTest(BaseTest("test/a.py", "T", "<script>alert(1)</script>"), (TestChange.BODY,))
    found = Finding(odd, Duty.MUST, "</li><img src=x>", cause="<b>")
    page = to_html(replace(report, findings=(found,), notes=("<script>",)))
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "<b>" not in page


def test_what_is_too_much_for_a_page_is_counted(report: UpgradeReport) -> None:
    changed = report.findings[0].changed
    page = to_html(replace(report, findings=(Finding(changed, Duty.MUST, "changed", cause="one"),) * 5_001))
    assert "Must assess (5,001)" in page
    assert "and 1 more test; the report in JSON has all of them." in page


def test_a_step_that_counts_something_else_has_no_share(report: UpgradeReport) -> None:
    steps = (FunnelStep("a", 8, "tests", ""), FunnelStep("b", 2, "tests", ""), FunnelStep("c", 1, "causes", ""))
    assert re.findall(r'aria-label="([\d.]+%)"', to_html(replace(report, funnel=steps))) == ["25.0%"]
