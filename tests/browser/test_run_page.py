"""In a real browser: the run page follows a run to its verdict by itself, holds its place, and fits a phone."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from relay.contract import Expected, FilteredTest, Observation
from tests.browser.chromium import WAIT_MS
from tests.browser.inspection import sticks_out_of_a_phone
from tests.browser.shots import SCHEMES
from tests.relay.stories import Story, base_of, dropped, ended, passed, planned, regressed, report_of

pytestmark = pytest.mark.browser

FILE = "test/test_demo_indexing.py"
TESTS = [f"{FILE}::TestDemoIndexingSPYRE::test_roundtrip{number}__float32" for number in range(12)]
ASSERTION = "AssertionError: Tensor-likes are not equal!\n\nMismatched elements: 3 / 12 (25.0%)"
HOSTILE = "<img src=x onerror=\"document.title='taken'\"></script><script>document.title='taken'</script>"


def plan(story: Story) -> None:
    left = [dropped(f"test/test_nn.py::TestNN::test_{number}") for number in range(5)]
    filtered = [
        FilteredTest(id=f"{TESTS[0]}_f16", base=base_of(TESTS[0]), rule="dtype_unsupported", provenance="d.yaml:3")
    ]
    tests = [planned(test) for test in TESTS[:11]] + [planned(TESTS[11], expected=Expected.XFAIL)]
    story.select(report_of([tests], left_out=left, filtered=filtered))


def test_the_page_follows_a_run_from_waiting_to_its_verdict(page: Page, url: str, story: Story, tmp_path: Path) -> None:
    run = story.open()
    page.goto(f"{url}/runs/{run}")
    heading = page.locator("h1")
    expect(heading).to_have_text("Waiting for a worker to choose tests")

    plan(story)
    expect(heading).to_have_text("12 tests planned, waiting for a worker", timeout=WAIT_MS)
    expect(page.locator(".funnel > li")).to_have_count(4)
    expect(page.locator(".funnel > li").nth(3)).to_contain_text("12 of 13 collected tests")

    shard, lease, tests = story.lease()
    story.report(shard, lease, [passed(test) for test in tests[:5]])
    bar = page.locator("progress")
    expect(bar).to_have_attribute("value", "5", timeout=WAIT_MS)
    expect(bar).to_have_attribute("max", "12")
    expect(page.locator(".tl-lane")).to_have_count(2)
    expect(page.locator(".tl-lane .tl-running")).to_have_count(1)
    expect(page.get_by_role("img", name="Funnel.")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Running, 40 % of the tests reported")
    story.report(shard, lease, [regressed(tests[5], ASSERTION), *(passed(test) for test in tests[6:11])])
    expect(bar).to_have_attribute("value", "11", timeout=WAIT_MS)
    expect(page.locator("#results pre").first).to_contain_text("Tensor-likes are not equal!")

    story.report(shard, lease, [ended(tests[11], Observation.FAILED, "not implemented")])
    story.finish(shard, lease)
    expect(page.locator("header.verdict.bad h1")).to_contain_text("1 test breaks with this change", timeout=WAIT_MS)
    expect(page).to_have_title(f"✗ {heading.inner_text()} · run {run} · relay")
    expect(page.locator("#operate code[data-copy]").first).to_have_text(f"relay run rerun {run} --failed")
    expect(page.locator("progress")).to_have_count(0)

    picture = tmp_path / "run.png"
    page.screenshot(path=picture, full_page=True)
    assert distinct_colours(picture) > 50


def test_a_refresh_keeps_what_the_reader_opened(page: Page, url: str, story: Story) -> None:
    run = story.open()
    plan(story)
    shard, lease, tests = story.lease()
    story.report(shard, lease, [regressed(tests[0], ASSERTION)])
    page.goto(f"{url}/runs/{run}")
    why = page.locator("#results .test details").first
    summary = why.locator("summary")
    summary.click()
    expect(why.locator(".reasons")).to_be_visible()
    expect(why.locator(".reasons")).to_contain_text("2 ownership")
    story.report(shard, lease, [passed(test) for test in tests[1:4]])
    expect(page.locator("progress")).to_have_attribute("value", "4", timeout=WAIT_MS)
    expect(why.locator(".reasons")).to_be_visible()
    expect(summary).to_be_focused()


def test_the_keyboard_walks_over_the_tests(page: Page, url: str, story: Story) -> None:
    run = story.open()
    plan(story)
    story.run_all({TESTS[3]: regressed(TESTS[3], ASSERTION)})
    page.goto(f"{url}/runs/{run}")
    page.keyboard.press("j")
    first = page.locator("#results .test summary").first
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#results .reasons").first).to_be_visible()
    page.keyboard.press("j")
    expect(first).not_to_be_focused()
    page.keyboard.press("k")
    expect(first).to_be_focused()


def test_the_list_of_runs_notices_a_new_run(page: Page, url: str, story: Story) -> None:
    story.open(pr=1, title="The first change")
    page.goto(url)
    expect(page.locator("tbody tr")).to_have_count(1)
    story.open(pr=2, title="The second change")
    expect(page.locator("tbody tr")).to_have_count(2, timeout=WAIT_MS)


def test_hostile_text_stays_text(page: Page, url: str, story: Story) -> None:
    run = story.open(title=HOSTILE)
    plan(story)
    story.run_all({TESTS[3]: regressed(TESTS[3], HOSTILE)})
    for path in ("/", f"/runs/{run}"):
        page.goto(url + path)
        expect(page.locator("main")).to_contain_text("onerror=")
        assert page.title() != "taken"
        assert page.locator("main img").count() == 0


def test_nothing_sticks_out_of_a_phone(browser: Browser, url: str, story: Story) -> None:
    run = story.open(title="A" * 300)
    plan(story)
    story.run_all({TESTS[3]: regressed(TESTS[3], "x" * 2_000)})
    waiting = story.open(pr=8)
    paths = ("/", f"/runs/{run}", f"/runs/{waiting}", "/runs/4711")
    assert sticks_out_of_a_phone(browser, url, paths) == []


def test_the_page_is_painted(page: Page, url: str, story: Story, tmp_path: Path) -> None:
    run = story.open(title="A" * 300)
    plan(story)
    story.run_all({TESTS[3]: regressed(TESTS[3], "x" * 2_000)})
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{url}/runs/{run}")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=tmp_path / "page.png")
        assert distinct_colours(tmp_path / "page.png") > 50


def test_the_page_is_whole_without_javascript(browser: Browser, url: str, story: Story) -> None:
    run = story.open()
    plan(story)
    story.run_all({TESTS[3]: regressed(TESTS[3], ASSERTION)})
    context = browser.new_context(java_script_enabled=False)
    try:
        plain = context.new_page()
        plain.goto(f"{url}/runs/{run}")
        expect(plain.locator("h1")).to_contain_text("1 test breaks")
        expect(plain.locator("#results pre").first).to_be_visible()
        plain.locator("#results .test summary").first.click()
        expect(plain.locator("#results .reasons").first).to_be_visible()
        plain.get_by_label("Part of a test's name").fill("TestNN::test_3")
        plain.get_by_role("button", name="Find").click()
        expect(plain.locator("#left-out")).to_contain_text("1 not chosen")
    finally:
        context.close()


def distinct_colours(png: Path) -> int:
    """How many different pixel values a PNG of 8-bit colour has, by rows of its unfiltered data: a blank page has one
    or two, a page with text hundreds. (Rows stay delta-filtered; that only makes blank areas more alike.)"""
    data, at, packed, channels = png.read_bytes(), 8, b"", 4
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, _, colour = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    rows, row = zlib.decompress(packed), 1 + width * channels
    return len(
        {
            rows[start + 1 + column : start + 1 + column + channels]
            for start in range(0, len(rows), row)
            for column in range(0, row - 1, channels)
        }
    )
