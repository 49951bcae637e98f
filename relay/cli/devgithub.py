"""`relay devgithub`: a GitHub on this machine, and the deeds of the people on it.

Without a subcommand it serves until Ctrl-C. The subcommands talk by HTTP to the one that runs on the same state folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relay.cli import devgithub_text as text
from relay.cli.exits import ExitCode
from relay.cli.options import JsonOption, web_address
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(help=text.HELP, epilog=text.EPILOG)

Row = tuple[str, ...]
RepoOption = Annotated[str, typer.Option("--repo", help="The repository; the upstream if left out.")]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="The pull request.")]


@app.callback(invoke_without_command=True)
def devgithub(
    context: typer.Context,
    *,
    upstream: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The upstream's name.")] = "",
    clone: Annotated[Path, typer.Option(metavar="DIR", help="A git repository that is the upstream.")] = Path(),
    backend: Annotated[list[str] | None, typer.Option(metavar="OWNER/NAME", help="A backend; repeatable.")] = None,
    allowlist: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="The upstream's allowlist; else all are at L2."),
    ] = None,
    relay: Annotated[
        str, typer.Option(metavar="URL", parser=web_address, help="The relay that hears of events.")
    ] = "http://127.0.0.1:8000",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port on loopback; 0 takes a free one.")] = 8081,
    as_json: JsonOption = False,
) -> None:
    """Serve a GitHub on this machine until Ctrl-C, and say how a relay is pointed at it."""
    if context.invoked_subcommand is not None:
        return
    from relay.cli.devgithub_serving import serve
    from relay.devgithub.setup import Plan

    plan = Plan(upstream, clone, tuple(backend or ()), allowlist, relay)
    serve(plan, port, Output(as_json))


@app.command("open")
def open_pull(
    head: Annotated[str, typer.Argument(help="The revision under review: a branch, a tag or a SHA.")],
    *,
    base: Annotated[str, typer.Option(help="The revision it is meant for; the default branch if left out.")] = "",
    title: Annotated[str, typer.Option(help="The commit's subject if left out.")] = "",
    label: Annotated[list[str] | None, typer.Option(help="A label it has from the start; repeatable.")] = None,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Open a pull request."""
    body = {"head": head, "base": base, "title": title, "labels": label or []}
    _pull_deed(Output(as_json), repo, "/pulls", body, "opened")


@app.command("sync")
def sync(
    number: NumberArgument,
    head: Annotated[str, typer.Argument(help="The new head.")],
    *,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Push a new head to a pull request."""
    _change(Output(as_json), repo, number, "has a new head", deed="synchronize", value=head)


@app.command("label")
def label_pull(
    number: NumberArgument,
    name: Annotated[str, typer.Argument(help="The label.")],
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take it off instead.")] = False,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Put a label on a pull request."""
    deed, what = ("unlabel", "lost a label") if remove else ("label", "has a label")
    _change(Output(as_json), repo, number, what, deed=deed, value=name)


@app.command("close")
def close(
    number: NumberArgument,
    *,
    merged: Annotated[bool, typer.Option("--merged", help="Merge it.")] = False,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Close a pull request."""
    deed, what = ("merge", "merged") if merged else ("close", "closed")
    _change(Output(as_json), repo, number, what, deed=deed)


@app.command("reopen")
def reopen(number: NumberArgument, *, repo: RepoOption = "", as_json: JsonOption = False) -> None:
    """Open a closed pull request again."""
    _change(Output(as_json), repo, number, "reopened", deed="reopen")


@app.command("comment")
def comment(
    number: NumberArgument,
    words: Annotated[str, typer.Argument(metavar="TEXT", help="What is said; left out, what was said is shown.")] = "",
    *,
    author: Annotated[str, typer.Option(metavar="LOGIN", help="Who says it.")] = "maintainer",
    permission: Annotated[
        str, typer.Option(metavar="ROLE", help="What that one may from now on: read, triage, write, maintain, admin.")
    ] = "",
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say something on a pull request, for example a command to the relay; or read what was said."""
    from relay.cli.devgithub_serving import steer

    out = Output(as_json)
    path = f"/pulls/{number}/comments"
    if words:
        body = {"body": words, "author": author, "permission": permission}
        _report(out, steer(repo, path, body), text.commented(one_line(author), number))
        return
    said = steer(repo, path, {}, method="GET")
    if as_json:
        out.data(said)
    for each in said["comments"]:
        out.say(text.said_by(one_line(each["user"]["login"]), each["created_at"]))
        out.say("\n".join(f"  {one_line(line, 1_000)}".rstrip() for line in each["body"].splitlines()))
    if not said["comments"]:
        out.note(text.nothing_said(number))


@app.command("push")
def push(
    ref: Annotated[str, typer.Argument(help="The full ref, for example refs/heads/main.")],
    before: Annotated[str, typer.Argument(help="Where it was; 40 zeros make it.")],
    after: Annotated[str, typer.Argument(help="Where it is now; 40 zeros delete it.")],
    *,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Tell of a push."""
    from relay.cli.devgithub_serving import steer

    out = Output(as_json)
    answer = steer(repo, "/pushes", {"ref": ref, "before": before, "after": after})
    _report(out, answer, text.pushed(one_line(ref), one_line(after)))


@app.command("rerun")
def rerun(
    number: Annotated[int, typer.Argument(metavar="ID", min=1, help="The check run, or with --suite the suite.")],
    *,
    suite: Annotated[bool, typer.Option("--suite", help="All checks of a suite.")] = False,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Press "Re-run" at a check run."""
    from relay.cli.devgithub_serving import steer

    out = Output(as_json)
    kind, what = ("check-suites", f"suite {number}") if suite else ("check-runs", f"check run {number}")
    _report(out, steer(repo, f"/{kind}/{number}/rerequest", {}), text.asked_again(what))


@app.command("run")
def move_run(
    repo: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The backend.")],
    run_id: Annotated[int, typer.Argument(metavar="ID", min=1, help="Its workflow run.")],
    status: Annotated[str, typer.Argument(help="queued, in_progress or completed.")],
    conclusion: Annotated[str | None, typer.Argument(help="With completed: success, failure, ...")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Play a backend: say what became of its workflow run."""
    from relay.cli.devgithub_serving import steer

    out = Output(as_json)
    answer = steer(repo, f"/runs/{run_id}", {"status": status, "conclusion": conclusion})
    _report(out, answer, text.run_moved(run_id, answer["status"], answer["conclusion"]), tells=False)


@app.command("token")
def token(
    repo: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The backend whose job shows it.")],
    *,
    run_id: Annotated[int, typer.Option("--run", help="The workflow run it is of.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Print a token of a backend's job, good for five minutes: what its callback shows to the relay."""
    from relay.cli.devgithub_serving import ask

    out = Output(as_json)
    value = ask("GET", "/_dev/token", params={"repository": repo, "run_id": run_id})["value"]
    if as_json:
        out.data({"token": value})
    out.say(value)


@app.command("show")
def show(as_json: JsonOption = False) -> None:
    """Show what is there: pull requests, comments, check runs, dispatches, workflow runs, webhook deliveries."""
    from relay.cli.devgithub_serving import ask

    out = Output(as_json)
    overview = ask("GET", "/_dev/state")
    if as_json:
        out.data(overview)
    for header, rows in _tables(overview):
        if rows:
            out.table(header, rows)


def _tables(overview: Mapping[str, Any]) -> list[tuple[Row, list[Row]]]:
    """Rows of every kind; their first cell says the kind, for programs that read lines."""
    return [
        (("", "REPOSITORY", "NUMBER", "STATE", "TITLE"), [_pull_row(*each) for each in _each(overview, "pulls")]),
        (("", "REPOSITORY", "ID", "BY", "ON"), [_comment_row(*each) for each in _each(overview, "comments")]),
        (("", "REPOSITORY", "ID", "STATE", "NAME"), [_check_row(*each) for each in _each(overview, "check_runs")]),
        (("", "REPOSITORY", "ID", "STATE", ""), [_run_row(*each) for each in _each(overview, "workflow_runs")]),
        (("", "EVENT", "GUID", "STATUS", ""), [_delivery_row(each) for each in overview["deliveries"]]),
    ]


def _pull_row(repo: str, of: Mapping[str, Any]) -> Row:
    return "pull", repo, str(of["number"]), of["state"], one_line(of["title"])


def _comment_row(repo: str, of: Mapping[str, Any]) -> Row:
    pull = of["issue_url"].rpartition("/")[2]
    return "comment", repo, str(of["id"]), one_line(of["user"]["login"]), f"pull request {pull}"


def _check_row(repo: str, of: Mapping[str, Any]) -> Row:
    return "check", repo, str(of["id"]), of["conclusion"] or of["status"], one_line(of["name"])


def _run_row(repo: str, of: Mapping[str, Any]) -> Row:
    return "run", repo, str(of["id"]), of["conclusion"] or of["status"], f"attempt {of['run_attempt']}"


def _delivery_row(of: Mapping[str, Any]) -> Row:
    return "delivery", of["event"], of["guid"], str(of["status_code"]), of["status"]


def _each(overview: Mapping[str, Any], kind: str) -> list[tuple[str, Any]]:
    return [(repo, each) for repo, things in overview[kind].items() for each in things]


def _change(out: Output, repo: str, number: int, what: str, *, deed: str, value: str = "") -> None:
    _pull_deed(out, repo, f"/pulls/{number}", {"deed": deed, "value": value}, what)


def _pull_deed(out: Output, repo: str, path: str, body: Mapping[str, object], what: str) -> None:
    from relay.cli.devgithub_serving import steer

    answer = steer(repo, path, body)
    _report(out, answer, text.pull(answer["number"], answer["head_sha"], what))


def _report(out: Output, answer: Mapping[str, Any], line: str, *, tells: bool = True) -> None:
    """Say what happened and how the relay took it; exit 1 when it did not hear of it."""
    if out.as_json:
        out.data(answer)
    out.say(line)
    deliveries = answer.get("deliveries", [])
    for each in deliveries:
        if each["status_code"] in (502, 504) and not each["answer"]:
            out.note(text.not_delivered(each["event"], each["status"]))
        else:
            out.note(text.delivered(each["event"], each["status_code"], one_line(each["answer"], 200)))
    if tells and not deliveries:
        out.note(text.nobody_heard())
    if any(not 200 <= each["status_code"] < 300 for each in deliveries):
        raise typer.Exit(ExitCode.FAILED)
