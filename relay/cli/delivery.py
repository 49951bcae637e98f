"""`relay delivery ...`: what leaves the relay, what is stuck, and sending it again. By HTTP only."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import delivery_text, text
from relay.cli.asking import confirm
from relay.cli.options import JsonOption, UrlOption, record_number, words
from relay.cli.output import Output, clean, one_line

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.outbox.views import LetterDetail, LetterState, LetterView

app = typer.Typer(help="See what leaves the relay, and send again what is stuck.", no_args_is_help=True)

StateOption = Annotated[str | None, typer.Option("--state", "--status", help="Only these: due, sending, sent or dead.")]
KindOption = Annotated[
    str | None, typer.Option("--kind", help="Only of one kind: dispatch, check_run, rerun, hud, ...")
]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="OWNER/NAME", parser=words(1_000), help="Only to this repository.")
]


@app.command("list")
def list_deliveries(
    *,
    state: StateOption = None,
    kind: KindOption = None,
    target: TargetOption = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many.")] = 50,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what left the relay or is to leave it, newest first."""
    from relay.cli.connect import open_client

    wanted, kind, out = _state(state), _kind(kind), Output(as_json)
    with open_client(url) as client:
        page = client.letters(state=wanted, kind=kind, target=target, limit=limit)
    if as_json:
        out.data(page)
        return
    heads = ("DELIVERY", "STATE", "KIND", "TARGET", "ATTEMPTS", "CREATED", "LAST ERROR")
    out.table(heads, [_row(out, letter) for letter in page.letters])
    out.note(delivery_text.counted(page.counts))
    if any(name == "dead" for name in page.counts):
        out.note(text.next_step("relay delivery replay --dead"))


@app.command("show")
def show_delivery(
    delivery_id: Annotated[
        int, typer.Argument(metavar="ID", parser=record_number, help="The delivery, by its number.")
    ],
    *,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one: what it tells whom, how often it was tried, and what stopped it."""
    from relay.cli.connect import open_client

    out = Output(as_json)
    with open_client(url) as client:
        detail = client.letter(delivery_id)
    if as_json:
        out.data(detail)
        return
    _show(out, detail)


@app.command("replay")
def replay_deliveries(
    ids: Annotated[
        list[int] | None, typer.Argument(metavar="ID", parser=record_number, help="Dead deliveries, by number.")
    ] = None,
    *,
    dead: Annotated[bool, typer.Option("--dead", help="All dead ones, as far as --kind and --target fit.")] = False,
    kind: KindOption = None,
    target: TargetOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send dead deliveries again, with all their attempts before them."""
    from relay.cli.connect import open_operator_client

    kind = _kind(kind)
    if dead == bool(ids):
        raise typer.BadParameter(delivery_text.ids_or_dead())
    out = Output(as_json)
    with open_operator_client(url) as client:
        chosen = ids or _dead(client, kind, target)
        if dead and chosen:
            confirm(delivery_text.replay_question(len(chosen)))
        answer = client.replay(chosen) if chosen else None
    if as_json:
        out.data(answer or {"replayed": [], "untouched": []})
        return
    out.say(delivery_text.replayed(answer.replayed if answer else ()))
    if answer and answer.untouched:
        out.note(delivery_text.untouched(answer.untouched))


def _state(given: str | None) -> LetterState | None:
    """The state that a word names."""
    from relay.outbox.views import LetterState

    names = [state.value for state in LetterState]
    if given is None or given in names:
        return None if given is None else LetterState(given)
    guess = next(iter(get_close_matches(given, names, n=1)), "")
    raise typer.BadParameter(text.unknown_state(given, guess, names), param_hint="--state")


def _kind(given: str | None) -> str | None:
    """The kind that a word names."""
    from relay.store.crcr_models import OutboxKind

    names = [kind.value for kind in OutboxKind]
    if given is None or given in names:
        return given
    guess = next(iter(get_close_matches(given, names, n=1)), "")
    raise typer.BadParameter(delivery_text.unknown_kind(given, guess, names), param_hint="--kind")


def _dead(client: ApiClient, kind: str | None, target: str | None) -> list[int]:
    page = client.letters(state=_state("dead"), kind=kind, target=target, limit=500)
    return [letter.id for letter in page.letters]


def _row(out: Output, letter: LetterView) -> tuple[str, ...]:
    what = (str(letter.id), out.status(letter.state), letter.kind, one_line(letter.target), str(letter.attempts))
    return (*what, out.when(letter.created_at), one_line(letter.error))


def _show(out: Output, detail: LetterDetail) -> None:
    letter, dispatch = detail.letter, detail.dispatch
    out.say(delivery_text.headline(letter))
    rows = [("created", out.when(letter.created_at)), ("attempts", str(letter.attempts))]
    if letter.state == "due":
        rows.append(("next attempt", out.when(letter.due_at)))
    if letter.settled_at is not None:
        rows.append(("settled", out.when(letter.settled_at)))
    if letter.status is not None:
        rows.append(("last status", str(letter.status)))
    if letter.error:
        rows.append(("last error", clean(letter.error)))
    if dispatch is not None:
        rows += [("tells of", one_line(delivery_text.subject(dispatch))), ("dispatch", dispatch.state)]
        rows += [("level", dispatch.level), ("webhook", one_line(dispatch.delivery_id))]
    out.table(("", ""), [*rows, ("key", one_line(detail.key))])
    if letter.state == "dead":
        out.note(text.next_step(f"relay delivery replay {letter.id}"))
