"""What the relay asks of GitHub, over real HTTP against a local one that is held to GitHub's own description."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from relay.devgithub import Commit, checks, label_pull, move_run, open_pull, start_run
from relay.github.app import LISTED_CAP, GitHubApp
from relay.github.types import ALREADY_RUNNING, CheckRun, GitHubError
from relay.parts import GitHub
from tests.relay.github.conftest import BACKEND, BASE, HEAD, UPSTREAM, Scene

CHECK = CheckRun(
    name="crcr/acme/backend/CI/build",
    head_sha=HEAD,
    status="in_progress",
    conclusion=None,
    details_url="https://github.com/acme/backend/actions/runs/100",
    external_id="100:7",
    title="In progress",
    summary="acme/backend CI: ...",
)
DONE = CheckRun(
    **{field: getattr(CHECK, field) for field in CHECK.__slots__} | {"status": "completed", "conclusion": "success"}
)


def test_it_is_what_the_protocol_asks_for(scene: Scene) -> None:
    """Every method, with the types of `relay.parts`."""
    github: GitHub = scene.client()
    assert isinstance(github, GitHubApp)


def test_dispatch_arrives_whole(scene: Scene) -> None:
    """Event and payload as given: nested, unequal in kind, not ASCII, half a character included."""
    payload = {"event_type": "push", "payload": {"title": "Größe ☃", "list": [1, None, True], "half": "\ud83d"}}
    scene.client().dispatch(BACKEND, "push", payload)
    (sent,) = scene.state.dispatches
    assert (sent.repo, sent.event_type, sent.client_payload) == (BACKEND, "push", payload)


def test_dispatch_beyond_githubs_limits_is_refused_for_good(scene: Scene) -> None:
    """422, GitHub's words, and no sense in another try."""
    with pytest.raises(GitHubError, match="client_payload is too large") as refused:
        scene.client().dispatch(BACKEND, "push", {"payload": "x" * 70_000})
    assert (refused.value.status, refused.value.passing) == (422, False)


def test_a_check_run_is_created_then_updated(scene: Scene) -> None:
    """One check run that goes on, with everything a reader of the pull request sees."""
    client = scene.client()
    number = client.create_check_run(UPSTREAM, CHECK)
    client.update_check_run(UPSTREAM, number, DONE)
    (shown,) = scene.state.repository(UPSTREAM).checks.values()
    assert (shown.id, shown.name, shown.suite.head_sha) == (number, CHECK.name, HEAD)
    assert (shown.status, shown.conclusion, shown.external_id) == ("completed", "success", "100:7")
    assert (shown.details_url, shown.output["title"]) == (CHECK.details_url, CHECK.title)


def test_an_unknown_check_run_cannot_be_updated(scene: Scene) -> None:
    """404, so that the caller creates one."""
    with pytest.raises(GitHubError) as refused:
        scene.client().update_check_run(UPSTREAM, 999, DONE)
    assert refused.value.status == 404


def test_check_runs_of_a_name_are_found_on_their_commit(scene: Scene) -> None:
    """All of them, the newest first; none of other names or commits."""
    client = scene.client()
    name = "crcr/acme/backend/CI & more/build #1"
    numbers = [client.create_check_run(UPSTREAM, replace(CHECK, name=name)) for _ in range(2)]
    client.create_check_run(UPSTREAM, CHECK)
    client.create_check_run(UPSTREAM, replace(CHECK, name=name, head_sha=BASE))
    seen = client.named_check_runs(UPSTREAM, HEAD, name)
    assert [(one.id, one.name, one.external_id) for one in seen] == [(n, name, "100:7") for n in reversed(numbers)]


@pytest.mark.parametrize("count", [0, 1, 100, 101, 250])
def test_every_page_of_a_suite_is_read(scene: Scene, count: int) -> None:
    """100 a page, and no page more than needed."""
    repository = scene.state.repository(UPSTREAM)
    fields = {"name": "seed", "head_sha": HEAD, "external_id": "1"}
    seed = checks.create_check_run(scene.state, repository, scene.app, fields)
    for number in range(count - 1):
        checks.create_check_run(scene.state, repository, scene.app, fields | {"name": f"check {number}"})
    if count == 0:
        repository.checks.clear()
    seen = scene.client().suite_check_runs(UPSTREAM, seed.suite.id)
    assert len({one.name for one in seen}) == len(seen) == count
    assert {one.external_id for one in seen} <= {"1"}
    assert scene.steps().count("check-runs") == max(1, -(-count // 100))


def test_runs_are_rerun_whole_or_failed_jobs_only_and_cancelled(scene: Scene) -> None:
    """Each through its own endpoint."""
    client, repository = scene.client(), scene.state.repository(BACKEND)
    run = start_run(scene.state, repository, event="repository_dispatch")
    for again, failed_only in ((client.rerun, False), (client.rerun_failed_jobs, True)):
        move_run(scene.state, BACKEND, run.id, "completed", "failure")
        again(BACKEND, run.id)
        assert (run.status, run.failed_only) == ("queued", failed_only)
    client.cancel_run(BACKEND, run.id)
    assert run.conclusion == "cancelled"


@pytest.mark.parametrize("again", ["rerun", "rerun_failed_jobs"])
def test_what_runs_is_already_running(scene: Scene, again: str) -> None:
    """The words by which it is told from other refusals (crcr-protocol 1.9)."""
    run = start_run(scene.state, scene.state.repository(BACKEND), event="repository_dispatch")
    with pytest.raises(GitHubError, match=ALREADY_RUNNING) as refused:
        getattr(scene.client(), again)(BACKEND, run.id)
    assert (refused.value.status, refused.value.passing) == (403, False)


def test_a_workflow_run_is_seen_or_is_not_there(scene: Scene) -> None:
    """As it stands; None is an answer, not an error."""
    client = scene.client()
    run = start_run(scene.state, scene.state.repository(BACKEND), event="repository_dispatch")
    move_run(scene.state, BACKEND, run.id, "completed", "failure")
    seen = client.workflow_run(BACKEND, run.id)
    assert seen is not None
    assert (seen.id, seen.status, seen.conclusion, seen.run_attempt) == (run.id, "completed", "failure", 1)
    assert client.workflow_run(BACKEND, 999_999) is None


@pytest.mark.parametrize(("sha", "there"), [(HEAD, True), (HEAD.upper(), True), ("c" * 40, False), ("d" * 40, False)])
def test_a_commit_exists_by_its_own_sha_only(scene: Scene, sha: str, there: bool) -> None:
    """A branch that is named like a SHA is no commit of that SHA."""
    scene.source.refs["d" * 40] = HEAD
    scene.source.refs[HEAD.upper()] = HEAD
    assert scene.client().commit_exists(UPSTREAM, sha) is there


@pytest.mark.parametrize("repo", ["upstream/absent", "foreign/repo"])
def test_a_repository_that_is_closed_to_us_says_nothing_about_commits(scene: Scene, repo: str) -> None:
    """Its 404 is ours to mend, not the commit's."""
    with pytest.raises(GitHubError, match="not installed on") as refused:
        scene.client().commit_exists(repo, HEAD)
    assert refused.value.status == 404


def test_a_text_is_fetched_once_and_then_only_compared(scene: Scene) -> None:
    """By its ETag; a change gives the new text and the new ETag."""
    client, path = scene.client(), ".github/allow list.yml"
    scene.source.files[path] = "L1:\n- a/größe\n"
    first = client.text(UPSTREAM, path, "main")
    assert first.text == "L1:\n- a/größe\n"
    assert client.text(UPSTREAM, path, "main", first.etag) == type(first)(None, first.etag)
    scene.source.files[path] = "L1: []\n"
    second = client.text(UPSTREAM, path, "main", first.etag)
    assert (second.text, second.etag != first.etag) == ("L1: []\n", True)


def test_an_absent_text_is_404(scene: Scene) -> None:
    """And says which file."""
    with pytest.raises(GitHubError, match="contents/absent") as refused:
        scene.client().text(UPSTREAM, "absent", "main")
    assert refused.value.status == 404


@pytest.mark.parametrize("count", [0, 100, 101])
def test_every_open_pull_request_is_listed_once_the_last_change_first(scene: Scene, count: int) -> None:
    """Closed ones are not."""
    for number in range(count):
        scene.clock.tick(seconds=1)
        open_pull(scene.state, UPSTREAM, head=HEAD, title=f"Change {number}")
    if count:
        scene.clock.tick(seconds=1)
        label_pull(scene.state, UPSTREAM, 1, "touched")
        open_pull(scene.state, UPSTREAM, head=HEAD)[0].closed_at = scene.clock()
    seen = scene.client().open_pulls(UPSTREAM)
    assert [one.number for one in seen] == ([1, *range(count, 1, -1)] if count else [])
    assert {one.head_sha for one in seen} <= {HEAD}


def test_the_open_pull_request_of_a_branch_is_found(scene: Scene) -> None:
    """By the whole name of the branch; a closed one is none."""
    open_pull(scene.state, UPSTREAM, head=HEAD, head_ref="crcr-demotion/a/l33")
    pull = open_pull(scene.state, UPSTREAM, head=HEAD, head_ref="crcr-demotion/a/l3")[0]
    client = scene.client()
    found = client.open_pull_from(UPSTREAM, "crcr-demotion/a/l3")
    assert found is not None
    assert found.number == pull.number
    pull.closed_at = scene.clock()
    assert client.open_pull_from(UPSTREAM, "crcr-demotion/a/l3") is None


def test_a_pull_request_is_told_whole(scene: Scene) -> None:
    """As in its webhooks: a webhook that was missed is made up from it."""
    pull = open_pull(scene.state, UPSTREAM, head=HEAD, title="Change")[0]
    told = scene.client().pull(UPSTREAM, pull.number)
    assert (told["number"], told["title"], told["state"]) == (pull.number, "Change", "open")
    assert (told["head"]["sha"], told["base"]["repo"]["full_name"]) == (HEAD, UPSTREAM)
    with pytest.raises(GitHubError) as refused:
        scene.client().pull(UPSTREAM, 999)
    assert refused.value.status == 404


def deliver(scene: Scene, count: int) -> None:
    """So many deliveries, a minute apart, to nobody."""
    scene.app.webhook_url = "http://127.0.0.1:9/webhook"
    scene.state.hooks.lose_next(count)
    for number in range(count):
        scene.clock.tick(minutes=1)
        scene.state.hooks.send(scene.app, "push", {"action": None, "n": number}, installation=1, repository=1)


@pytest.mark.parametrize("count", [0, 5, 100, 130])
def test_deliveries_are_listed_back_to_a_moment(scene: Scene, count: int) -> None:
    """Over pages; the moment itself counts."""
    begun = scene.clock()
    deliver(scene, count)
    client = scene.client()
    everything = client.hook_deliveries(begun)
    assert [one.guid for one in everything] == [one.guid for one in scene.state.hooks.of(scene.app)]
    assert {(one.event, one.action, one.status_code) for one in everything} <= {("push", None, 502)}
    assert len(client.hook_deliveries(scene.clock() - timedelta(minutes=3))) == min(count, 4)


def test_old_pages_of_deliveries_are_not_turned(scene: Scene) -> None:
    """A reconciler that runs every few minutes costs one request."""
    deliver(scene, 130)
    scene.client().hook_deliveries(scene.clock() - timedelta(minutes=3))
    assert scene.steps() == ["deliveries"]


def test_a_listing_of_deliveries_ends(scene: Scene) -> None:
    """At its cap."""
    deliver(scene, LISTED_CAP + 50)
    assert len(scene.client().hook_deliveries(scene.clock() - timedelta(days=9))) == LISTED_CAP


def test_a_delivery_is_sent_again_on_request(scene: Scene) -> None:
    """The same guid, a new number."""
    deliver(scene, 1)
    scene.state.hooks.lose_next(1)
    (old,) = scene.state.hooks.of(scene.app)
    scene.client().redeliver(old.id)
    scene.state.hooks.wait_idle()
    again = scene.state.hooks.of(scene.app)[0]
    assert (again.guid, again.redelivery, again.id != old.id) == (old.guid, True, True)


def test_titles_come_in_one_query_without_the_unknown(scene: Scene) -> None:
    """Pull requests by number, commits by SHA; what is no SHA does not spoil the rest."""
    open_pull(scene.state, UPSTREAM, head=HEAD, title='Fix "quotes" & <tags>', author="octo")
    found = scene.client().titles(UPSTREAM, [1, 999], [HEAD, "c" * 40, 'x") { id } #'])
    assert found.keys() == {"1", HEAD}
    assert found["1"] == ('Fix "quotes" & <tags>', "octo")
    assert found[HEAD][0] == "Change a"
    assert scene.steps().count("graphql") == 1


def test_more_titles_than_one_query_holds_are_several(scene: Scene) -> None:
    """None is lost."""
    shas = [f"{number:040x}" for number in range(120)]
    for sha in shas:
        scene.source.add(Commit(sha, message=f"Change {sha}"))
    assert list(scene.client().titles(UPSTREAM, [], shas)) == shas
    assert scene.steps().count("graphql") == 3


def test_nothing_to_ask_is_not_asked(scene: Scene) -> None:
    """No query at all."""
    assert scene.client().titles(UPSTREAM, [], ["main"]) == {}
    assert scene.asked == []


@pytest.mark.parametrize(
    "repo", ["", "a", "a/b/c", "../app", "a/..", "./b", "a/b?x=1", "a/b#c", "a /b", "a/b\n", "ä/b"]
)
def test_what_is_no_repository_reaches_no_path(scene: Scene, repo: str) -> None:
    """Names come from files and callers."""
    with pytest.raises(GitHubError, match="is no repository") as refused:
        scene.client().dispatch(repo, "push", {})
    assert (refused.value.passing, scene.asked) == (False, [])


def test_base_is_known(scene: Scene) -> None:
    """The scene's own commits are two."""
    assert scene.client().commit_exists(UPSTREAM, BASE)
