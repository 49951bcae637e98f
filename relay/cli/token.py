"""`relay token ...`: who may do what with a relay. Made, listed and revoked by HTTP; `show` tells of this machine's.

A new token's value goes to stdout alone, so that it can be piped to where it is kept.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import text, token_text
from relay.cli.asking import confirm
from relay.cli.options import JsonOption, UrlOption, record_number
from relay.cli.output import Output

if TYPE_CHECKING:
    from relay.access_views import TokenView
    from relay.client import ApiClient

app = typer.Typer(help="Give and take back access; see where this machine's own tokens are.", no_args_is_help=True)

_SCOPES = ("read", "operate", "admin", "worker")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DURATION = re.compile(r"(\d{1,5})([hdw])", re.ASCII)
_PAGE = 500
#: As the service has it.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._@/+-]*[A-Za-z0-9])?")
_LONGEST_NAME = 100


def _name(given: str) -> str:
    if len(given) > _LONGEST_NAME or not _NAME.fullmatch(given):
        raise typer.BadParameter(token_text.bad_name(_LONGEST_NAME))
    return given


@app.command("create")
def create_token(
    name: Annotated[
        str, typer.Argument(metavar="NAME", parser=_name, help="Whose it is; the audit log shows this name.")
    ],
    *,
    scope: Annotated[str, typer.Option(help="read, operate (also reads), admin (everything) or worker.")] = "read",
    expires: Annotated[str, typer.Option(help="When it ends: 12h, 90d, a date, or never.")] = "90d",
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and print it, this once. Needs the operator token, or one of scope admin."""
    from relay.cli.connect import open_operator_client

    out, wanted, until = Output(as_json), _scope(scope), _expiry(expires, datetime.now(UTC))
    with open_operator_client(url) as client:
        new = client.create_token(name, wanted, until)
    if as_json:
        out.data(new)
        return
    out.say(new.token)
    end = token_text.valid_until(until.isoformat(timespec="minutes")) if until else token_text.without_end()
    out.note(token_text.made(new.about.name, new.about.scope, end))


@app.command("list")
def list_tokens(
    *,
    every: Annotated[bool, typer.Option("--all", help="Also the expired and the revoked ones.")] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tokens without their values, newest first. Needs the operator token, or one of scope admin."""
    from relay.cli.connect import open_operator_client

    out = Output(as_json)
    with open_operator_client(url) as client:
        tokens = _all(client, every)
    if as_json:
        out.data(tokens)
        return
    out.table(
        ("TOKEN", "NAME", "SCOPE", "STATE", "CREATED", "EXPIRES", "LAST USED"), [_row(out, one) for one in tokens]
    )
    if not tokens:
        out.note(token_text.no_tokens())


@app.command("revoke")
def revoke_token(
    token_id: Annotated[
        int, typer.Argument(metavar="ID", parser=record_number, help="The token, by its number in the list.")
    ],
    *,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a token at once, and every sign-in with it. Needs the operator token, or one of scope admin."""
    from relay.cli.connect import open_operator_client

    out = Output(as_json)
    with open_operator_client(url) as client:
        confirm(token_text.revoke_question(token_id))
        ended = client.revoke_token(token_id)
    if as_json:
        out.data(ended)
        return
    out.say(token_text.revoked(ended.id, ended.name))


@app.command("show")
def show_tokens(
    reveal: Annotated[bool, typer.Option("--reveal", help="Print the values too. They are secrets.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the files that hold the webhook secret, the worker token and the operator token."""
    from relay.cli.connect import load_settings
    from relay.settings import SECRET_FILES

    out = Output(as_json)
    settings = load_settings()
    rows = []
    for name, file in SECRET_FILES.items():
        path = settings.state_dir / file
        given = getattr(settings, name)
        value = given.get_secret_value() if given else path.read_text(encoding="utf-8").strip() if path.exists() else ""
        source = f"RELAY_{name.upper()}" if given else str(path)
        rows.append({"name": name, "source": source, "present": bool(value), **({"value": value} if reveal else {})})
    if as_json:
        out.data(rows)
        return
    for row in rows:
        cells = (
            str(row["name"]),
            text.token_source(str(row["source"]), bool(row["present"])),
            str(row.get("value", "")),
        )
        out.say("\t".join(cells).rstrip())


def _scope(given: str) -> str:
    if given in _SCOPES:
        return given
    guess = next(iter(get_close_matches(given, _SCOPES, n=1)), "")
    raise typer.BadParameter(token_text.unknown_scope(given, guess, _SCOPES), param_hint="--scope")


def _expiry(given: str, now: datetime) -> datetime | None:
    """The moment that a duration or a date means, None for never. A date is its beginning in UTC."""
    if given == "never":
        return None
    if length := _DURATION.fullmatch(given):
        return now + int(length[1]) * _UNITS[length[2]]
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise typer.BadParameter(token_text.bad_expiry(given), param_hint="--expires") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _all(client: ApiClient, every: bool) -> list[TokenView]:
    page = client.tokens(every=every, limit=_PAGE)
    found = list(page.tokens)
    while (cursor := client.cursor_of(page)) is not None:
        page = client.tokens(every=every, limit=_PAGE, cursor=cursor)
        found += page.tokens
    return found


def _row(out: Output, token: TokenView) -> tuple[str, ...]:
    used = out.when(token.last_used_at) or token_text.never_used()
    expires = token.expires_at.isoformat(timespec="minutes") if token.expires_at else "never"
    return (str(token.id), token.name, token.scope, token.state, out.when(token.created_at), expires, used)
