"""The allowlist and the CI providers as the relay uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from relay.allowlist.fetching import TextSource
from relay.allowlist.locations import LocationError
from relay.allowlist.providers import ProviderEntry, Providers
from relay.allowlist.source import RemoteAllowlist, RemoteProviders, no_providers
from relay.allowlist.types import MINIMUM_TTL_S, AllowlistUnavailableError, Level
from relay.parts import AllowlistSource
from relay.store.engine import Store
from tests.relay.allowlist.origin import Clock, Origin

PAGE = "https://github.com/pytorch/pytorch/blob/main/.github/allowlist.yml"
PROVIDERS = "providers: {buildkite: {repo_map: {o1/p1: a/b}}}"


def _allowlist(store: Store, origin: Origin, clock: Clock, ttl_s: float = 900) -> RemoteAllowlist:
    return RemoteAllowlist(PAGE, store=store, fetch=origin.fetch, now=clock, ttl_s=ttl_s)


def test_the_allowlist_in_force(store: Store) -> None:
    """As the protocol's parts want it: read once, refreshed after a push, and the old one kept after a bad push."""
    origin, clock = Origin("L4: [a/b: x]"), Clock()
    source: AllowlistSource = _allowlist(store, origin, clock)
    first = source.current()
    assert [(found.repo, found.level) for found in first.allowlist.backends] == [("a/b", Level.L4)]
    assert (first.read_at, first.problem, origin.asked) == (clock.at, "", 1)
    assert source.names_path([".github/allowlist.yml"], "pytorch/pytorch", "refs/heads/main")
    assert not source.names_path([".github/allowlist.yml"], "pytorch/pytorch", "refs/heads/x")
    origin.text = "L4: [a/b, A/B]"
    clock.tick(60)
    after = source.refresh()
    assert after.allowlist is first.allowlist
    assert (after.read_at, "stands in line 1 already" in after.problem) == (first.read_at, True)


def test_a_short_time_to_live_is_raised(store: Store) -> None:
    """The source is a public API with a limit."""
    origin, clock = Origin(), Clock()
    source = _allowlist(store, origin, clock, ttl_s=10)
    source.current()
    clock.tick(MINIMUM_TTL_S - 1)
    source.current()
    assert origin.asked == 1


def test_both_texts_share_a_record_and_not_a_row(store: Store) -> None:
    """And each has its own time."""
    clock, origin, registrations = Clock(), Origin(), Origin(PROVIDERS)
    _allowlist(store, origin, clock).tend()
    url = PAGE.replace("allowlist", "ci_providers")
    providers = RemoteProviders(url, store=store, fetch=registrations.fetch, now=clock)
    providers.tend()
    assert providers.current().lookup("o1", "p1") == ProviderEntry("a/b")
    assert _allowlist(store, origin, clock).kept().allowlist.find("A/B")
    assert (origin.asked, registrations.asked) == (1, 1)
    registrations.text = ""
    assert providers.refresh() == Providers() == no_providers()


def test_registrations_that_were_never_good(store: Store) -> None:
    """Are told with their variable."""
    source = RemoteProviders(PAGE, store=store, fetch=Origin("[x]").fetch, now=Clock())
    with pytest.raises(AllowlistUnavailableError, match="RELAY_CI_PROVIDERS_URL"):
        source.current()


@pytest.mark.parametrize("kind", [RemoteAllowlist, RemoteProviders])
def test_a_wrong_address_is_refused_at_once(store: Store, kind: type[RemoteAllowlist] | type[RemoteProviders]) -> None:
    """Not at the first webhook."""
    with pytest.raises(LocationError):
        kind("https://example.com/list", store=store, fetch=Origin().fetch, now=Clock())


def test_a_list_on_this_machine(store: Store, tmp_path: Path) -> None:
    """From the file to the level, with nothing between; no push changes it."""
    file = tmp_path / "mine.yml"
    file.write_text("L3: {npu: {a/b: [x]}}\n", encoding="utf-8")
    source = RemoteAllowlist(file.as_uri(), store=store, fetch=TextSource().fetch, now=Clock())
    assert [found.repo for found in source.current().allowlist.of_device("npu")] == ["a/b"]
    assert not source.names_path([str(file)], "a/b", "refs/heads/main")


def test_what_looks_wrong_is_told_once(store: Store) -> None:
    """For each text, not for each use of it."""
    clock, lists, registrations = (
        Clock(),
        Origin("L9: []\nL1: [a/b]"),
        Origin("providers: {buildkite: {repo_map: {o1: a/b}}}"),
    )
    source = _allowlist(store, lists, clock)
    providers = RemoteProviders(PAGE, store=store, fetch=registrations.fetch, now=clock)
    with capture_logs() as logs:
        for _ in range(3):
            source.current()
            providers.current()
    assert [(entry["list"], entry["count"]) for entry in logs] == [("allowlist", 1), ("ci providers", 1)]
    assert "line 1:1: warning: unknown key" in logs[0]["findings"]
