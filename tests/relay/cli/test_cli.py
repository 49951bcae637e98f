"""The command as a whole: help, version, usage errors, and a start that imports next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relay import __version__
from tests.relay.cli.conftest import Relay

HEAVY = ("pydantic", "fastapi", "sqlalchemy", "celery", "httpx", "torch")
COMMANDS = ("demo", "up", "serve", "worker", "run", "select", "doctor", "manifest", "token", "version")
LINES = [
    (),
    *((name,) for name in COMMANDS),
    *(("run", name) for name in ("list", "view", "watch", "rerun", "cancel")),
    ("token", "show"),
    *(("manifest", name) for name in ("check", "export", "generate", "migrate", "promote")),
]


def test_help_lists_every_command(relay: Relay) -> None:
    """What there is can be found."""
    ended = relay("--help")
    assert ended.code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in ended.out] == []
    assert ended.err == ""


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_every_help_is_plain_and_names_the_command(relay: Relay, line: tuple[str, ...]) -> None:
    """No boxes in help, whose text is also read in pipes."""
    ended = relay(*line, "--help")
    assert ended.code == 0
    assert ended.out.startswith(" ".join(("Usage: relay", *line)))
    assert not set(ended.out) & set("╭─│╰")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_start_imports_nothing_heavy(option: str) -> None:
    """Help and version import none of the libraries that cost start-up time."""
    code = (
        "import sys\nfrom relay.cli import run\n"
        f"assert run([{option!r}]) == 0\n"
        f"found = sorted({{name.split('.')[0] for name in sys.modules}} & set({HEAVY!r}))\n"
        "sys.exit(' '.join(found) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_what_asks_a_service_needs_no_database() -> None:
    """Whoever asks from elsewhere does not wait for what only the service works with."""
    of_the_service = ("sqlalchemy", "fastapi", "uvicorn", "celery", "jinja2")
    code = f"import sys, relay.cli.connect\nsys.exit(' '.join({{*sys.modules}} & {{*{of_the_service!r}}}) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_version(relay: Relay) -> None:
    """Both ways to ask."""
    assert relay("--version").out == f"relay {__version__}\n"
    assert relay("version").out.splitlines()[0] == f"relay {__version__}"
    versions = relay("version", "--json").json
    assert isinstance(versions, dict)
    assert versions["relay"] == __version__


def test_module_is_the_same_command() -> None:
    """`python -m relay` works where the script is not on the PATH."""
    done = subprocess.run([sys.executable, "-m", "relay", "--version"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (f"relay {__version__}\n", 0)


@pytest.mark.parametrize(
    ("line", "guess"),
    [(("rum",), "'run'"), (("run", "wach"), "'watch'"), (("run", "list", "--state", "runing"), "'running'")],
    ids=" ".join,
)
def test_did_you_mean(relay: Relay, line: tuple[str, ...], guess: str) -> None:
    """A near miss is answered with the nearest right word, on stderr, with exit code 2."""
    ended = relay(*line)
    assert ended.code == 2
    assert guess in ended.err
    assert ended.out == ""


def test_usage_error_as_json(relay: Relay) -> None:
    """--json holds also for a command line that is wrong."""
    ended = relay("run", "view", "seven", "--json")
    assert ended.code == 2
    assert ended.error["code"] == "usage"
    assert "relay run view --help" in ended.error["hint"]


def test_group_alone_shows_its_help(relay: Relay) -> None:
    """`relay run` is a wrong command line that shows the right ones."""
    ended = relay("run")
    assert ended.code == 2
    assert "watch" in ended.err
    assert ended.out == ""


def test_settings_that_make_no_sense_are_named_without_their_values(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every wrong variable, no value: it may be a secret."""
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", "tooshort")
    monkeypatch.setenv("RELAY_SHARD_SIZE", "many")
    ended = relay("run", "list", "--json")
    assert (ended.code, ended.error["code"]) == (1, "bad_settings")
    assert "RELAY_OPERATOR_TOKEN" in ended.error["message"]
    assert "RELAY_SHARD_SIZE" in ended.error["message"]
    assert "tooshort" not in ended.out
