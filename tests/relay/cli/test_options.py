"""Values that no service would take are refused before one is asked, with what they have to look like."""

from __future__ import annotations

import pytest
import typer

from relay.cli.options import LARGEST, owner_and_name, record_number, web_address, words
from relay.cli.root import build
from relay.web.paging import LARGEST as LARGEST_OF_THE_SERVICE
from tests.relay.cli.conftest import Relay
from tests.relay.cli.tree import commands

LEAVES = [(path, it) for path, it in commands(build()) if not getattr(it, "commands", None)]


def with_option(name: str) -> list[tuple[str, ...]]:
    return [path for path, it in LEAVES if any(name in option.opts for option in it.params)]


@pytest.mark.parametrize("given", ["http://localhost:8000", "https://relay.invalid/ci", "http://[::1]:80", "HTTP://a"])
def test_web_addresses(given: str) -> None:
    assert web_address(given + "/") == given


@pytest.mark.parametrize(
    "given", ["", "nonsense", "localhost:8000", "ftp://a", "http://", "http://[", "http://a:99999", "http://a b", "/x"]
)
def test_no_web_addresses(given: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a web address; write http://HOST:PORT"):
        web_address(given)


@pytest.mark.parametrize("path", with_option("--url"), ids=" ".join)
def test_every_url_is_looked_at(relay: Relay, path: tuple[str, ...]) -> None:
    """Of whatever command, before anything else is done."""
    ended = relay(*path, "--url", "nonsense")
    assert (ended.code, ended.out) == (2, "")
    assert "'nonsense' is not a web address" in ended.err or "Missing" in ended.err


@pytest.mark.parametrize("given", ["", "pytorch", "a/b/c", "a b/c", "/", "a/", "a/b\n"])
def test_no_repositories(given: str) -> None:
    assert owner_and_name("pytorch/pytorch.rs") == "pytorch/pytorch.rs"
    with pytest.raises(typer.BadParameter, match="write OWNER/NAME"):
        owner_and_name(given)


@pytest.mark.parametrize("given", ["", "0", "-1", "1.5", "1_0", "seven", "²", "٣", str(LARGEST + 1), "9" * 5_000])
def test_no_numbers_of_records(given: str) -> None:
    """A record's number is digits, and no larger than the service can have."""
    assert record_number(str(LARGEST)) == LARGEST == LARGEST_OF_THE_SERVICE
    with pytest.raises(typer.BadParameter, match="is not a whole number from 1 to"):
        record_number(given)


def test_texts_have_an_end() -> None:
    assert words(3)("abc") == "abc"
    for given in ("", "abcd", "a\0"):
        with pytest.raises(typer.BadParameter):
            words(3)(given)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run list --pr 0", "'0' is not a whole number from 1"),
        ("run list --before x", "'x' is not a whole number from 1"),
        ("run list --repo nonsense", "'nonsense' is not a repository"),
        ("status --repo nonsense", "'nonsense' is not a repository"),
        ("run list --branch=", "it may not be empty"),
        ("run view 99999999999", "is not a whole number from 1"),
        ("run rerun --pr 0", "'0' is not a whole number from 1"),
        ("run rerun 1 --test=", "it may not be empty"),
        ("delivery show 0", "'0' is not a whole number from 1"),
        ("delivery replay 0", "'0' is not a whole number from 1"),
        ("delivery list --kind comand", "Did you mean 'command'?"),
        ("delivery replay --dead --kind comand", "Did you mean 'command'?"),
        ("token revoke x", "'x' is not a whole number from 1"),
        ("token create -- -x", "begins and ends with a letter or digit"),
        ("audit show 0", "'0' is not a whole number from 1"),
        ("why test_relu --change 0", "'0' is not a whole number from 1"),
    ],
)
def test_values_that_the_service_would_refuse(relay: Relay, line: str, said: str) -> None:
    """No request is made for them: no service is there."""
    ended = relay(*line.split())
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
