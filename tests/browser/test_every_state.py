"""In a real browser: what pages look like when there is nothing yet, while something happens, and when something is
wrong. None of it has a fault that axe-core finds, sticks out of a phone, or hides something from the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import text

from relay.access.tokens import create_token
from relay.access_views import Scope
from relay.context import RelayContext
from relay.contract import LogKind, Observation, WorkerPresent
from relay.runs.creation import cancel_run
from relay.runs.presence import say_present
from relay.settings import RelaySettings
from relay.upgrade.keeping import keep_report, read_publication
from relay.upgrade.running import open_execution
from relay.upgrade.views import ExecutionAsked
from tests.benchmarks.bench_pages import page_paths
from tests.browser.chromium import WAIT_MS
from tests.browser.inspection import inspect, sign_in, sticks_out, visitor
from tests.browser.test_run_page import ASSERTION, TESTS, plan
from tests.relay.stories import Story, ended, flaked, known, passed, regressed
from tests.relay.upgrade_story import upgrade_text

pytestmark = pytest.mark.browser

UNKNOWN = (
    *("/runs/4711", "/runs/none", "/pulls/4711", "/commits/4711abc", "/tests?id=nobody", "/backends/no/body"),
    *("/deliveries/4711", "/deliveries/inbox/4711", "/nowhere", "/?state=odd", "/?pr=4711", "/trunk?before=1"),
    *(
        "/upgrades/4711",
        "/tests?q=nobody",
        "/now?device=none",
        "/deliveries?target=no/body",
        "/deliveries/inbox?delivery=none",
    ),
)


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    with visitor(browser) as opened:
        yield opened


@pytest.fixture
def looked_at(reader: BrowserContext) -> Page:
    return reader.new_page()


def test_pages_of_an_empty_record(looked_at: Page, url: str, subtests: pytest.Subtests) -> None:
    sign_in(looked_at, url)
    for address in (path for path in page_paths() if "{" not in path):
        with subtests.test(page=address):
            answer = looked_at.goto(url + address)
            assert answer is not None
            assert answer.ok
            inspect(looked_at)


def test_pages_of_what_there_is_not(looked_at: Page, url: str, subtests: pytest.Subtests) -> None:
    for address in UNKNOWN:
        with subtests.test(page=address):
            answer = looked_at.goto(url + address)
            assert answer is not None
            assert answer.status < 500
            assert "html" in answer.headers["content-type"]
            inspect(looked_at)


def test_pages_of_a_relay_whose_record_is_gone(looked_at: Page, url: str, context: RelayContext) -> None:
    with context.store.writing() as session:
        session.execute(text("ALTER TABLE runs RENAME TO moved_runs"))
    answer = looked_at.goto(url)
    assert answer is not None
    assert answer.status == 503
    inspect(looked_at)
    with context.store.writing() as session:
        session.execute(text("ALTER TABLE moved_runs RENAME TO runs"))
    looked_at.get_by_role("link", name="Try again").click()
    expect(looked_at.locator("h1")).to_have_text("Runs")


def test_a_sign_in_that_is_refused_and_one_that_may_not_do_this(
    looked_at: Page, url: str, context: RelayContext
) -> None:
    looked_at.goto(f"{url}/sign-in")
    inspect(looked_at)
    looked_at.get_by_label("Token", exact=True).fill("wrong")
    looked_at.keyboard.press("Enter")
    looked_at.get_by_role("alert").wait_for()
    inspect(looked_at)
    with context.store.writing() as session:
        made = create_token(session, "reads", Scope.READ, context.now(), expires_at=None, created_by="a test")
    looked_at.get_by_label("Token", exact=True).fill(made.token)
    looked_at.keyboard.press("Enter")
    looked_at.get_by_role("button", name="Sign out").wait_for()
    answer = looked_at.goto(f"{url}/audit-log")
    assert answer is not None
    assert answer.status == 403
    inspect(looked_at)


def test_manifests_that_cannot_be_read(looked_at: Page, url: str, settings: RelaySettings) -> None:
    (settings.manifest_dir / "broken.yaml").write_text("test_suite_config: [\n")
    for address in ("/", "/manifests"):
        looked_at.goto(url + address)
        expect(looked_at.locator(".warning, .badge.bad").first).to_be_visible()
        inspect(looked_at)


def test_a_change_with_a_verdict_on_each_of_two_devices(
    looked_at: Page, url: str, story: Story, context: RelayContext
) -> None:
    """The page is open while the second one comes."""
    object.__setattr__(context, "backends", (*context.backends, replace(context.backends[0], device="quartz")))
    quartz = Story(context.store, device="quartz")
    story.open(pr=7)
    quartz.open(pr=7)
    plan(story)
    story.run_all({TESTS[0]: regressed(TESTS[0], ASSERTION)})
    looked_at.goto(f"{url}/pulls/7")
    expect(looked_at.locator("h1")).to_contain_text("quartz: no answer yet")
    inspect(looked_at)
    plan(quartz)
    quartz.run_all({})
    expect(looked_at.locator("h1")).to_contain_text("quartz: nothing breaks", timeout=WAIT_MS)
    looked_at.locator("#devices a", has_text="its tests").click()
    expect(looked_at.locator("#tests-heading")).to_have_text("Tests on quartz")
    inspect(looked_at)
    for address in ("/", "/manifests"):
        looked_at.goto(url + address)
        looked_at.get_by_label("Device").select_option("quartz")
        looked_at.get_by_role("button", name="Filter").click()
        expect(looked_at.get_by_label("Device")).to_have_value("quartz")
        inspect(looked_at)


def test_a_deep_queue_with_the_reasons_of_those_that_wait(
    looked_at: Page, url: str, story: Story, context: RelayContext
) -> None:
    object.__setattr__(context, "settings", context.settings.model_copy(update={"queue_deep_s": 0.001}))
    story.open(pr=1)
    plan(story)
    story.run_all({})  # tells what a run takes
    for number in (2, 3, 4):
        story.open(pr=number)
    full = WorkerPresent(worker="spyre-9", device="spyre", process="p", version="1", trouble="No space left on device.")
    with context.store.writing() as session:
        say_present(session, full, context.now())
    looked_at.goto(f"{url}/now")
    expect(looked_at.locator(".now-workers")).to_contain_text("cannot work")
    expect(looked_at.locator(".warning", has_text="The queue is deep")).to_be_visible()
    expect(looked_at.locator(".now-run")).to_have_count(3)
    expect(looked_at.locator(".now-run").last).to_contain_text("Pull request; older runs go first")
    inspect(looked_at)


def test_a_page_that_lost_its_relay_says_so(looked_at: Page, url: str, story: Story) -> None:
    run = story.open()
    looked_at.goto(f"{url}/runs/{run}")
    expect(looked_at.locator("#connection")).to_be_hidden()
    looked_at.evaluate("() => { document.getElementById('connection').hidden = false; }")
    inspect(looked_at)


@pytest.mark.parametrize("signed_in", [False, True], ids=["a reader", "an operator"])
def test_the_pages_of_a_run_while_it_goes_on(reader: BrowserContext, url: str, story: Story, signed_in: bool) -> None:
    """The pages stay open all the while and follow by themselves."""
    run = story.open()
    if signed_in:
        sign_in(reader.new_page(), url)
    about, now, change = (opened(reader, f"{url}/{path}") for path in (f"runs/{run}", "now", "pulls/7"))
    for page in (about, now, change):
        inspect(page)
    plan(story)
    # A sentence as long as any, with a word that no line holds.
    story.worker, story.sandbox = "worker-" * 25, f"landlock: {'no bubblewrap ' * 20}{'/root' * 40}"
    shard, lease, tests = story.lease()
    story.report(shard, lease, [passed(tests[0]), regressed(tests[1], ASSERTION), flaked(tests[2], "once")])
    expect(about.locator("#weak-sandbox")).to_contain_text("not in a whole sandbox", timeout=WAIT_MS)
    expect(about.locator("progress")).to_have_attribute("value", "3", timeout=WAIT_MS)
    expect(change.locator("#tests")).to_contain_text("new", timeout=WAIT_MS)
    expect(now.locator(".now-run")).to_contain_text("3 of 12", timeout=WAIT_MS)
    for page in (about, now, change):
        inspect(page)
    story.report(shard, lease, [known(tests[3], "before"), ended(tests[4], Observation.CRASHED, "Segmentation fault")])
    story.report(shard, lease, [ended(test, Observation.TIMED_OUT, "60 s") for test in tests[5:7]])
    story.report(shard, lease, [passed(test) for test in tests[7:]])
    story.finish(shard, lease)
    expect(about.locator("progress")).to_have_count(0, timeout=WAIT_MS)
    for page in (about, change):
        inspect(page)


def test_the_pages_of_runs_that_ended_otherwise(
    looked_at: Page, url: str, story: Story, context: RelayContext, subtests: pytest.Subtests
) -> None:
    green = story.open(pr=1)
    plan(story)
    story.run_all({TESTS[11]: ended(TESTS[11], Observation.FAILED, "not implemented")})
    off = story.open(pr=2)
    with context.store.writing() as session:
        cancel_run(session, off, story.tick(), "An operator cancelled it.")
    for address in (f"/runs/{green}", "/pulls/1", f"/runs/{off}", "/pulls/2", f"/tests?id={TESTS[3]}"):
        with subtests.test(page=address):
            looked_at.goto(url + address)
            inspect(looked_at)


def test_the_log_of_a_run_with_lines_of_every_kind(looked_at: Page, url: str, story: Story) -> None:
    run = story.open()
    plan(story)
    shard, lease, _ = story.lease()
    for half, kinds in (("first", list(LogKind)[::2]), ("second", list(LogKind)[1::2])):
        story.say(shard, lease, *((kind, f"the {half} half: {kind}") for kind in kinds))
    for words, lines in (("first half", len(list(LogKind)[::2])), ("second half", len(list(LogKind)[1::2]))):
        looked_at.goto(f"{url}/runs/{run}?find={words}")
        expect(looked_at.locator("#log .log-line")).to_have_count(lines)
        assert lines <= 5, "inspect() looks at no more of them"
        inspect(looked_at)


def test_the_pages_of_an_upgrade_with_one_of_everything(
    looked_at: Page, url: str, context: RelayContext, subtests: pytest.Subtests
) -> None:
    with context.store.writing() as session:
        kept, _ = keep_report(session, read_publication(upgrade_text(300)), "release duty", context.now())
        path = f"/upgrades/{kept.id}"
        other, _ = keep_report(session, read_publication(upgrade_text(60)), "release duty", context.now())
        open_execution(session, other, ExecutionAsked(), "pytorch/pytorch", context.now())
        while_it_runs = f"/upgrades/{other.id}"
    for address in (
        "/upgrades",
        path,
        f"{path}?duty=new",
        f"{path}?cause=make_tensor",
        f"{path}?q=nobody",
        while_it_runs,
    ):
        with subtests.test(page=address):
            looked_at.goto(url + address)
            for fold in looked_at.locator("details").all()[:6]:
                fold.evaluate("one => { one.open = true; }")
            inspect(looked_at)


def test_a_run_is_followed_without_a_script_as_the_reader_likes(browser: Browser, url: str, story: Story) -> None:
    run = story.open()
    with visitor(browser, script=False) as plain:
        page = plain.new_page()
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(f"{url}/runs/{run}")
        plan(story)
        for path, then in ((f"runs/{run}", "h1"), ("pulls/7", "h1"), ("now", ".now-run"), ("", "a.headline")):
            page.goto(f"{url}/{path}")
            again = page.get_by_role("link", name="Look again")
            again.focus()
            page.keyboard.press("Enter")
            expect(page.locator(then).first).to_contain_text("12 tests planned")
            assert not sticks_out(page)


def opened(reader: BrowserContext, address: str) -> Page:
    page = reader.new_page()
    page.goto(address)
    return page
