"""What a maintainer pastes into the issue about an upgrade: everything that counts, no more than GitHub takes."""

from __future__ import annotations

from dataclasses import replace

from markdown_it import MarkdownIt

from relay.upgrade.markdown import TEXT_CAP, to_markdown
from selector.types import BaseTest
from selector.upgrade.types import ChangedTest, Duty, Finding, OpInfoAspect, TestChange, TestDifference, UpgradeReport


def test_it_says_what_must_be_assessed_by_cause_with_evidence_and_entry(report: UpgradeReport) -> None:
    text = to_markdown(report)
    assert "### Must assess (1 in 1 group)" in text
    assert "- [ ] **`make_input`** (1 test)" in text
    assert "`nn.yaml:7 mandatory_success, 12 variants before, 14 after; two dtypes more`" in text
    assert f"/blob/{'b' * 40}/test/common.py#L5-L11)" in text
    assert "| `all variants` | 4,000 `variants` | `an estimate` |" in text


def test_all_sections_have_their_place(report: UpgradeReport) -> None:
    headings = [line for line in to_markdown(report).splitlines() if line.startswith("### ")]
    assert [heading.partition(" (")[0] for heading in headings] == [
        *("### Funnel", "### Results on both releases", "### Must assess", "### Should assess"),
        *("### New and ungoverned", "### Operators that differ", "### Generated tests that will appear"),
        *("### In a model's words", "### Notes"),
    ]


def test_operators_are_told_by_what_differs_and_the_rarest_first(report: UpgradeReport) -> None:
    (change,) = report.operators.changes
    many = tuple(replace(change, name=f"op{n:02}", aspects=(OpInfoAspect.DECORATORS,)) for n in range(20))
    text = to_markdown(replace(report, operators=replace(report.operators, changes=(*many, change))))
    first, second = (line for line in text.splitlines() if "gained bfloat16" in line)
    assert first == "- `dtypes, gained bfloat16` (1): `nn.functional.max_pool2d`"
    assert second.startswith("- `decorators, gained bfloat16` (20): `op00`, `op01`")
    assert second.endswith("`op11`, …")


def test_wheels_hold_no_tests_and_so_there_is_nothing_about_tests(report: UpgradeReport) -> None:
    text = to_markdown(replace(report, findings=(), difference=TestDifference((), 0, 0)))
    assert "assess" not in text.partition("### Operators that differ")[0].partition("### Funnel")[0]
    assert "### Must" not in text


def test_nothing_to_assess_is_said(report: UpgradeReport) -> None:
    assert "No test that the manifests ask for was changed." in to_markdown(replace(report, findings=()))


def _many(report: UpgradeReport, number: int) -> UpgradeReport:
    tests = [ChangedTest(BaseTest(f"test/{n}.py", "T", "test_a"), (TestChange.BODY,)) for n in range(number)]
    findings = [Finding(test, Duty.MUST, "changed", cause="x" * 40 + str(n)) for n, test in enumerate(tests)]
    return replace(report, findings=tuple(findings), difference=TestDifference(tuple(tests), 1, 1))


def test_a_report_on_everything_still_fits_and_says_what_was_cut(report: UpgradeReport) -> None:
    text = to_markdown(_many(report, 3_000))
    assert len(text.encode()) < TEXT_CAP
    assert "and 2,900 more groups; the report in JSON has all of them" in text
    assert "### Notes (1)" in text


def test_names_of_strangers_are_no_markup(report: UpgradeReport) -> None:
    odd = ChangedTest(BaseTest("test/`a`.py", "T", "x](http://evil) @team <img src=x>"), (TestChange.BODY,))
    found = Finding(odd, Duty.MUST, "because", cause="` **@team** <script>")
    made = replace(report, findings=(found,), difference=TestDifference((odd,), 1, 1))
    tokens = MarkdownIt("commonmark", {"html": True}).parse(to_markdown(made))
    inline = [child for token in tokens for child in token.children or []]
    said = "".join(token.content for token in inline if token.type == "text")
    assert "team" not in said
    assert not [token for token in inline if token.type in {"html_inline", "image"}]
    assert all("evil" not in str(token.attrs) for token in inline)
