"""`relay devgithub` as a process, and its subcommands against it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from relay.intake.signature import check_signature
from relay.machine.state_folder import announced_url
from tests.relay.cli.conftest import Relay
from tests.relay.cli.test_service import started
from tests.relay.devgithub.conftest import Ear, ear
from tests.relay.devgithub.repositories import commit, repository

__all__ = ["ear"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = repository(tmp_path / "clone")
    commit(folder, "Base", file="1\n")
    commit(folder, "Change the file", file="2\n")
    return folder


@pytest.fixture
def process(tmp_path: Path, clone: Path, ear: Ear) -> Iterator[subprocess.Popen[str]]:
    """One that serves; its first line on stdout is still to be read."""
    relay_url = ear.url.removesuffix("/github/webhook")
    arguments = ("--clone", str(clone), "--backend", "acme/backend", "--relay", relay_url, "--port", "0", "--json")
    with started(tmp_path / "state", "devgithub", "--upstream", "upstream/torch", *arguments) as serving:
        yield serving


@pytest.fixture
def github(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it says when it serves."""
    assert process.stdout is not None
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return said


def test_serves_on_loopback_until_a_signal(
    process: subprocess.Popen[str], github: dict[str, Any], tmp_path: Path
) -> None:
    assert github["url"].startswith("http://127.0.0.1:")
    assert (github["upstream"], github["backends"]) == ("upstream/torch", ["acme/backend"])
    assert announced_url(tmp_path / "state" / "devgithub") == github["url"]
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert github["environment"] in err
    assert "PRIVATE KEY" not in err
    assert announced_url(tmp_path / "state" / "devgithub") is None


def test_says_how_a_relay_is_pointed_at_it(github: dict[str, Any]) -> None:
    """A script that only this user can read, because a key is in it."""
    script = Path(github["environment"])
    assert script.stat().st_mode & 0o777 == 0o600
    text = script.read_text()
    assert f"RELAY_GITHUB_API_URL={github['url']}\n" in text
    assert "BEGIN RSA PRIVATE KEY" in text


def test_a_pull_request_is_opened_from_the_clone(
    relay: Relay, github: dict[str, Any], ear: Ear, tmp_path: Path
) -> None:
    """The relay hears of it, signed with the secret of its own state folder."""
    ended = relay("devgithub", "open", "HEAD", "--base", "HEAD~1", "--label", "ciflow/crcr/acme")
    assert ended.out.startswith("pull request 1 opened (head ")
    assert (ended.code, "the relay answered 200 heard" in ended.err) == (0, True)
    ((headers, body),) = ear.heard
    check_signature((tmp_path / "state" / "webhook-secret").read_text().strip(), body, headers["x-hub-signature-256"])
    pull = json.loads(body)["pull_request"]
    assert (pull["title"], pull["labels"][0]["name"]) == ("Change the file", "ciflow/crcr/acme")


def test_deeds_reach_the_relay_one_by_one(relay: Relay, github: dict[str, Any], ear: Ear) -> None:
    lines = [
        ("open", "HEAD~1", "--title", "Mine"),
        ("sync", "1", "HEAD"),
        ("label", "1", "full"),
        ("label", "1", "full", "--remove"),
        ("close", "1"),
        ("reopen", "1"),
        ("close", "1", "--merged"),
        ("push", "refs/heads/main", "HEAD~1", "HEAD"),
    ]
    assert [relay("devgithub", *line).code for line in lines] == [0] * len(lines)
    actions = [json.loads(body).get("action") for _, body in ear.heard]
    assert actions == ["opened", "synchronize", "labeled", "unlabeled", "closed", "reopened", "closed", None]
    shown = relay("devgithub", "show").out.splitlines()
    assert shown[0].split("\t") == ["pull", "upstream/torch", "1", "closed", "Mine"]
    assert len([line for line in shown if line.startswith("delivery\t")]) == len(lines)
    overview = relay("devgithub", "show", "--json").json
    assert isinstance(overview, dict)
    assert overview["repositories"] == ["upstream/torch", "acme/backend"]


def test_somebody_comments_and_what_was_said_is_read(relay: Relay, github: dict[str, Any], ear: Ear) -> None:
    """In whatever role; the text is shown as text, whatever is in it."""
    relay("devgithub", "open", "HEAD")
    assert relay("devgithub", "comment", "1").err == "nothing was said on pull request 1\n"
    said = relay(
        "devgithub", "comment", "1", "/relay retest\n\x1b[2Jthanks", "--author", "ann", "--permission", "write"
    )
    assert (said.code, said.out.startswith("ann commented on pull request 1;")) == (0, True)
    event = json.loads(ear.heard[-1][1])
    assert (event["action"], event["sender"]["login"], event["issue"]["number"]) == ("created", "ann", 1)
    shown = relay("devgithub", "comment", "1").out.splitlines()
    assert shown[0].startswith("ann at 20")
    assert shown[1:] == ["  /relay retest", "  \N{REPLACEMENT CHARACTER}[2Jthanks"]
    told = relay("devgithub", "comment", "1", "--json").json
    assert isinstance(told, dict)
    assert [each["body"] for each in told["comments"]] == ["/relay retest\n\x1b[2Jthanks"]
    rows = [line.split("\t") for line in relay("devgithub", "show").out.splitlines()]
    assert ["comment", "upstream/torch", "ann", "pull request 1"] in [[*row[:2], *row[3:]] for row in rows]
    refused = relay("devgithub", "comment", "9", "hello")
    assert (refused.code, "404" in refused.err) == (1, True)


def test_a_deed_the_relay_did_not_take_ends_with_1(relay: Relay, github: dict[str, Any], ear: Ear) -> None:
    """The pull request is open all the same, and the line says so."""
    ear.status = 500
    ended = relay("devgithub", "open", "HEAD")
    assert ended.code == 1
    assert ended.out.startswith("pull request 1 opened")
    assert "the relay answered 500" in ended.err


def test_a_deed_nobody_hears_of_says_so(relay: Relay, github: dict[str, Any]) -> None:
    """Adding a label twice is no event."""
    relay("devgithub", "open", "HEAD", "--label", "a")
    ended = relay("devgithub", "label", "1", "a")
    assert (ended.code, "nobody was told" in ended.err) == (0, True)


def test_a_backend_is_played(relay: Relay, github: dict[str, Any], tmp_path: Path) -> None:
    """A token of its job for curl; its run by hand; a check asked for again."""
    token = relay("devgithub", "token", "acme/backend").out.strip()
    assert token.count(".") == 2
    assert relay("devgithub", "token", "acme/backend", "--json").json is not None
    for line in (("run", "acme/backend", "9", "completed", "success"), ("rerun", "9"), ("rerun", "9", "--suite")):
        ended = relay("devgithub", *line, "--json")
        assert (ended.code, ended.error["code"]) == (1, "devgithub_unavailable"), line


def test_refusals_are_told_with_a_next_step(relay: Relay, github: dict[str, Any]) -> None:
    for line in (("open", "no-such-branch"), ("close", "9"), ("open", "HEAD", "--repo", "no/such")):
        ended = relay("devgithub", *line)
        assert ended.code == 1
        assert "the local GitHub refused (4" in ended.err, line
        assert "relay devgithub show" in ended.err
    wrong = relay("devgithub", "run", "acme/backend", "1", "over")
    assert "status: Input should be 'queued', 'in_progress' or 'completed'" in wrong.err
    assert "not the name of a repository" in relay("devgithub", "open", "HEAD", "--repo", "name").err


def test_a_second_one_says_where_the_first_is(relay: Relay, github: dict[str, Any], clone: Path) -> None:
    ended = relay("devgithub", "--clone", str(clone), "--json")
    assert ended.code == 1
    assert ended.error["code"] == "devgithub_unavailable"
    assert github["url"] in ended.error["message"]


def test_without_one_its_subcommands_say_how_to_start_it(relay: Relay) -> None:
    ended = relay("devgithub", "show", "--json")
    assert (ended.code, ended.error["code"]) == (1, "devgithub_unavailable")
    assert "relay devgithub" in ended.error["hint"]


@pytest.mark.parametrize("line", [("--clone", "."), ("--upstream", "name"), ("--backend", "a/b/c")])
def test_a_plan_that_cannot_be_served_is_refused(
    relay: Relay, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path if line[0] == "--clone" else clone)
    ended = relay("devgithub", *line, "--json")
    assert (ended.code, ended.error["code"]) == (1, "bad_plan")


def test_keys_survive_a_restart(
    github: dict[str, Any], process: subprocess.Popen[str], tmp_path: Path, clone: Path
) -> None:
    """A relay that was pointed at the first one can go on with the second."""

    def key_of(url: str) -> Any:
        return httpx.get(f"{url}/.well-known/jwks", trust_env=False, timeout=60).json()["keys"][0]["kid"]

    script, kid = Path(github["environment"]).read_text(), key_of(github["url"])
    process.terminate()
    process.wait(60)
    port = github["url"].rpartition(":")[2]
    with started(tmp_path / "state", "devgithub", "--clone", str(clone), "--port", port, "--json") as second:
        assert second.stdout is not None
        again = json.loads(second.stdout.readline())
        assert key_of(again["url"]) == kid
    first_key = script.split("RELAY_GITHUB_APP_PRIVATE_KEY=")[1].split("export")[0]
    assert first_key in Path(again["environment"]).read_text()
