"""Comments and permissions over real HTTP against a local GitHub that is held to GitHub's own description."""

from __future__ import annotations

import pytest

from relay.devgithub import Fault, open_pull, say
from relay.devgithub.comments import BODY_CAP, permit
from relay.github.app import LISTED_CAP
from relay.github.types import GitHubError
from tests.relay.github.conftest import BASE, HEAD, UPSTREAM, Scene


@pytest.fixture(autouse=True)
def _pull(scene: Scene) -> None:
    open_pull(scene.state, UPSTREAM, head=HEAD, base=BASE)


@pytest.mark.parametrize(
    ("role", "permission"), [("admin", "admin"), ("maintain", "write"), ("write", "write"), ("triage", "read")]
)
def test_what_somebody_may(scene: Scene, role: str, permission: str) -> None:
    permit(scene.state, UPSTREAM, "somebody", role)
    assert scene.client().permission(UPSTREAM, "somebody") == permission


def test_who_is_unknown_may_nothing(scene: Scene) -> None:
    scene.state.faults.add(Fault("GET", f"/repos/{UPSTREAM}/collaborators/nobody/permission", status=404))
    assert scene.client().permission(UPSTREAM, "nobody") == "none"


@pytest.mark.parametrize("login", ["a?b#c", "%2e%2e", "a&b=c", "x[bot]"])
def test_a_login_is_no_path(scene: Scene, login: str) -> None:
    """Whatever it holds, it is asked about as one name."""
    scene.client().permission(UPSTREAM, login)
    assert all(one.target.startswith(f"/repos/{UPSTREAM}/collaborators/") for one in scene.asked[-1:])
    assert scene.asked[-1].target.endswith("/permission")


def test_a_comment_is_written_edited_and_found(scene: Scene) -> None:
    """A person's beside it is told from ours."""
    client = scene.client()
    theirs = say(scene.state, UPSTREAM, 1, "hello")[0].id
    ours = client.create_comment(UPSTREAM, 1, "Größe ☃")
    client.update_comment(UPSTREAM, ours, "second")
    seen = [(one.id, one.app_id, one.bot, one.text) for one in client.comments(UPSTREAM, 1)]
    assert seen == [(theirs, None, False, "hello"), (ours, scene.app.id, True, "second")]


@pytest.mark.parametrize("count", [0, 99, 100, 101, LISTED_CAP + 1])
def test_every_page_is_read_up_to_the_cap(scene: Scene, count: int) -> None:
    for number in range(count):
        say(scene.state, UPSTREAM, 1, f"{number}")
    seen = scene.client().comments(UPSTREAM, 1)
    assert [one.text for one in seen] == [str(number) for number in range(min(count, LISTED_CAP))]


def test_a_comment_that_is_not_there_is_404_and_one_too_long_422(scene: Scene) -> None:
    client = scene.client()
    with pytest.raises(GitHubError) as gone:
        client.update_comment(UPSTREAM, 999, "x")
    with pytest.raises(GitHubError) as refused:
        client.create_comment(UPSTREAM, 1, "x" * (BODY_CAP + 1))
    assert (gone.value.status, refused.value.status, refused.value.passing) == (404, 422, False)
