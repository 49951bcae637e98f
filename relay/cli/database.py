"""`relay db ...`: the schema of the service's database. Works on the database itself, not through the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from relay.cli import status_text, text
from relay.cli.options import JsonOption
from relay.cli.output import Output
from relay.failures import Failure

if TYPE_CHECKING:
    from sqlalchemy import Engine

app = typer.Typer(help="The database of the service: bring its schema up to date.", no_args_is_help=True)


class DatabaseUnusable(Failure):
    """The database does not answer, or is of another version."""

    code = "database_unusable"


@app.callback()
def _database() -> None:
    """The database of the service: bring its schema up to date."""


@app.command("upgrade")
def upgrade(as_json: JsonOption = False) -> None:
    """Bring the schema of RELAY_DATABASE_URL to the newest. Needed where RELAY_UPGRADE_ON_START is off.

    Safe while services run, and more than once: one upgrades at a time, and what is done is not done again.
    """
    from relay.cli.database_schema import schema_of
    from relay.store.engine import upgrade_database

    out = Output(as_json)
    with _engine() as (engine, shown):
        with engine.connect() as connection:
            before, newest, known = schema_of(connection)
        if before is not None and before not in known:
            raise DatabaseUnusable(status_text.schema_is_newer(shown, before), status_text.schema_is_newer_hint())
        upgrade_database(engine)
    if as_json:
        out.data({"database": shown, "before": before, "after": newest})
        return
    out.say(status_text.upgraded(shown, before, newest))


@contextmanager
def telling_of_the_database(database_url: str) -> Iterator[None]:
    """Raises `DatabaseUnusable` for what a database that is away or unfit makes of the work inside."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        shown = make_url(database_url).render_as_string(hide_password=True)
        cause = text.first_line(error.__cause__ or error)
        raise DatabaseUnusable(status_text.database_unreachable(shown, cause), text.database_hint()) from error


@contextmanager
def _engine() -> Iterator[tuple[Engine, str]]:
    """The database of the settings, and its address without the password. Raises `DatabaseUnusable`."""
    from sqlalchemy import make_url

    from relay.cli.connect import load_settings
    from relay.store.engine import open_engine

    url = load_settings().database_url
    engine = open_engine(url)
    shown = make_url(url).render_as_string(hide_password=True)
    try:
        with telling_of_the_database(url):
            yield engine, shown
    finally:
        engine.dispose()
