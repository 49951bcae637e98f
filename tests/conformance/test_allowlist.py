"""Rows AL and AT: what an allowlist may say, what of it is used, and what happens to one that is wrong or away; rows
BK08 to BK14: what the file of CI providers registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, cast

import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from sqlalchemy import event

from relay.allowlist.findings import AllowlistError
from relay.allowlist.grammar import parse_allowlist, read_allowlist
from relay.allowlist.locations import LocationError
from relay.allowlist.providers import ProviderEntry, Providers, parse_providers
from relay.allowlist.source import RemoteAllowlist, RemoteProviders
from relay.allowlist.types import EVERYTHING, Backend, Level, Participation
from relay.github.types import GitHubError
from relay.oidc.issuers import BUILDKITE_ISSUER
from relay.settings import RelaySettings
from relay.store.crcr_models import RemoteDocument
from tests.conformance.allowlist_stand_in import FIXTURE
from tests.conformance.payloads import pull_request
from tests.conformance.world import World
from tests.relay.allowlist.origin import Origin

PAGE = "https://github.com/pytorch/pytorch/blob/main/.github/allowlist.yml"
ALL = ["a/l1", "a/l2", "a/l3", "a/l4"]
DOWN = GitHubError("GitHub answered 502", status=502)
TTL_S = 1_200


@dataclass
class Listed:
    """A relay whose allowlist is the real one, read from `origin`."""

    world: World
    origin: Origin
    source: RemoteAllowlist
    _deliveries: count[int] = field(default_factory=count)

    def says(self, text: str) -> str:
        """The list was changed to this text by a push; what is the problem with it."""
        self.origin.text = text
        return self.source.refresh().problem

    def shown(self) -> tuple[str, dict[str, list[dict[str, Any]]]]:
        """The dashboard's copy: how fresh it is, and the entries by level."""
        answer = self.world.client.get("/api/crcr/allowlist")
        assert answer.status_code == 200
        return answer.headers["X-Cache"], answer.json()

    def told(self) -> list[str]:
        """Who hears of one more pull request."""
        number = next(self._deliveries)
        before = len(self.world.github.dispatches)
        answer = self.world.webhook("pull_request", pull_request(number=100 + number), delivery=f"told-{number}")
        assert answer.status_code == 200
        self.world.drain()
        return sorted(sent.repo for sent in self.world.github.dispatches[before:])

    def refuses(self, text: str, says: str) -> None:
        """The text is an error that names a line, and the list that was in force stays so for everybody."""
        with pytest.raises(AllowlistError, match=r"line \d+:\d+: ") as caught:
            parse_allowlist(text)
        assert says in str(caught.value)
        _, before = self.shown()
        assert says in self.says(text)
        assert self.shown() == ("STALE", before)
        assert self.told() == ALL


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """A time to live that is nobody's default."""
    return conformance_settings.model_copy(update={"allowlist_ttl_s": TTL_S})


@pytest.fixture
def listed(world: World) -> Listed:
    origin, context = Origin(FIXTURE), world.context
    source = RemoteAllowlist(
        PAGE,
        store=context.store,
        fetch=origin.fetch,
        now=world.clock,
        ttl_s=context.settings.allowlist_ttl_s,
    )
    assert context.crcr is not None
    world.context = replace(context, crcr=replace(context.crcr, allowlist=source))
    cast(FastAPI, world.client.app).state.relay = world.context
    source.current()
    return Listed(world, origin, source)


def names(backends: Sequence[Backend]) -> list[str]:
    return [backend.repo for backend in backends]


def one(text: str) -> Backend:
    """The only backend of a list."""
    (backend,) = parse_allowlist(text).backends
    return backend


@pytest.mark.row("AL01", "AL10")
def test_levels_in_order_with_names_and_oncalls(listed: Listed) -> None:
    found = parse_allowlist(FIXTURE).at_or_above(Level.L1)
    assert [(backend.repo, backend.level, backend.oncalls) for backend in found] == [
        ("a/l1", Level.L1, ()),
        ("a/l2", Level.L2, ()),
        ("a/l3", Level.L3, ("x",)),
        ("a/l4", Level.L4, ("y", "z")),
    ]
    _, shown = listed.shown()
    assert {level: [(entry["repo"], entry["oncalls"]) for entry in entries] for level, entries in shown.items()} == {
        "L1": [("a/l1", [])],
        "L2": [("a/l2", [])],
        "L3": [("a/l3", ["x"])],
        "L4": [("a/l4", ["y", "z"])],
    }
    assert listed.told() == ALL


@pytest.mark.row("AL02", "AL03", "AL11")
def test_devices(listed: Listed) -> None:
    listed.says("L1: [a/l1]\nL3: {device1: {a/one: [p], a/two: 'q, r'}, device2: {a/three: }}")
    allowlist = listed.source.current().allowlist
    assert [(found.repo, found.oncalls) for found in allowlist.of_device("device1")] == [
        ("a/one", ("p",)),
        ("a/two", ("q", "r")),
    ]
    assert allowlist.of_device("unknown") == ()
    devices = {backend.repo: backend.device for backend in allowlist.backends}
    assert devices == {"a/l1": None, "a/one": "device1", "a/two": "device1", "a/three": "device2"}


@pytest.mark.row("AL04")
def test_a_repository_stands_once(listed: Listed) -> None:
    listed.refuses("L1: [a/b]\nL2: [a/b]", "a/b stands in line 1 already")


@pytest.mark.row("AL05")
def test_l3_is_no_list(listed: Listed) -> None:
    listed.refuses("L3: [a/b]", "L3 must be a mapping")


@pytest.mark.row("AL06")
def test_a_kept_text_is_not_fetched_again(listed: Listed) -> None:
    for _ in range(3):
        assert listed.told() == ALL
    listed.world.clock.tick(1)
    assert listed.shown()[0] == "HIT"
    assert listed.origin.asked == 1


@pytest.mark.row("AL07")
def test_a_record_that_cannot_be_read_is_a_miss(listed: Listed) -> None:
    """A fresh process then asks the source; one that knows the list goes on with it."""
    world = listed.world
    with world.context.store.writing() as session:
        session.connection().exec_driver_sql("ALTER TABLE remote_documents RENAME TO lost")
    assert names(listed.source.current().allowlist.backends) == ALL
    assert listed.origin.asked == 1
    fresh = RemoteAllowlist(PAGE, store=world.context.store, fetch=listed.origin.fetch, now=world.clock)
    assert names(fresh.current().allowlist.backends) == ALL
    assert listed.origin.asked == 2
    assert listed.told() == ALL


@pytest.mark.row("AL08")
def test_a_fetched_text_is_kept_for_its_time(listed: Listed) -> None:
    world = listed.world
    with world.session() as session:
        row = session.get_one(RemoteDocument, "allowlist")
    assert (row.good_text, row.good_at, row.url) == (FIXTURE, world.clock.at, PAGE)
    listed.origin.text = "L1: [a/l1]"
    world.clock.tick(TTL_S - 1)
    assert listed.told() == ALL
    world.clock.tick(1)
    assert listed.told() == ["a/l1"]
    assert listed.origin.asked == 2


@pytest.mark.row("AL09")
def test_two_readers_share_one_connection(listed: Listed) -> None:
    """To the record, which stands in for the original's Redis."""
    world, opened = listed.world, []
    event.listen(world.context.store.engine, "connect", lambda *_: opened.append(1))
    other = RemoteAllowlist(PAGE, store=world.context.store, fetch=listed.origin.fetch, now=world.clock)
    for source in (listed.source, other, listed.source, other):
        source.current()
    assert opened == []
    assert listed.origin.asked == 1


@pytest.mark.row("AL12", "AL13")
def test_oncalls_and_devices_of_plain_levels(listed: Listed) -> None:
    listed.says("L1: [a/l1]\nL2: [a/l2]\nL4: ['a/l4': 'a, b']")
    found = {backend.repo: (backend.oncalls, backend.device) for backend in listed.source.current().allowlist.backends}
    assert found == {"a/l1": ((), None), "a/l2": ((), None), "a/l4": (("a", "b"), None)}


@pytest.mark.row("AL14", "AT10")
def test_an_unknown_repository(listed: Listed) -> None:
    """Has no level, on-call, device or event, and is heard of nowhere."""
    allowlist = listed.source.current().allowlist
    assert allowlist.find("a/unknown") is None
    assert all("a/unknown" not in names(allowlist.taking_part_in(event)) for event in Participation)
    assert "a/unknown" not in listed.told()


@pytest.mark.row("AL15")
def test_letter_case_does_not_count(listed: Listed) -> None:
    found = listed.source.current().allowlist.find("A/L4")
    assert found is not None
    assert (found.repo, found.level, found.oncalls) == ("a/l4", Level.L4, ("y", "z"))


@pytest.mark.row("AL16")
def test_only_the_highest_level_blocks() -> None:
    allowlist = parse_allowlist(FIXTURE)
    assert {backend.repo: backend.level.blocks for backend in allowlist.backends} == {
        "a/l1": False,
        "a/l2": False,
        "a/l3": False,
        "a/l4": True,
    }
    assert allowlist.find("a/unknown") is None


@pytest.mark.row("AL17")
@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (Level.L1, ["a/l1", "a/l2", "a/l3", "b/l3", "a/l4"]),
        (Level.L3, ["a/l3", "b/l3", "a/l4"]),
        (Level.L4, ["a/l4"]),
    ],
)
def test_at_or_above_a_level(level: Level, expected: list[str]) -> None:
    text = FIXTURE.replace("    a/l3: [x]\n", "    a/l3: [x]\n    b/l3: [x]\n")
    assert names(parse_allowlist(text).at_or_above(level)) == expected


@pytest.mark.row("AL18")
def test_a_device_is_no_list(listed: Listed) -> None:
    listed.refuses("L3: {npu: [a/b]}", "device 'npu' must be a mapping")


@pytest.mark.row("AL19")
@pytest.mark.parametrize("name", ["' '", "''", "~"])
def test_a_device_has_a_name(listed: Listed, name: str) -> None:
    listed.refuses(f"L3: {{{name}: {{a/b: x}}}}", "must not be blank")


@pytest.mark.row("AL20")
def test_names_that_differ_by_letter_case_are_the_same(listed: Listed) -> None:
    listed.refuses("L1: [a/b]\nL4: [A/B]", "A/B stands in line 1 already")


@pytest.mark.row("AL21")
@pytest.mark.parametrize(
    ("element", "says"),
    [("ab", "'ab' is no repository"), ("5", "not '5'"), ("null", "not nothing"), ("[a/b]", "not a list")],
)
def test_an_element_that_names_no_repository(listed: Listed, element: str, says: str) -> None:
    listed.refuses(f"L2: [{element}]", says)


@pytest.mark.row("AL22")
def test_an_entry_has_one_key(listed: Listed) -> None:
    listed.refuses("L2: [{a/b: x, c/d: y}]", "a mapping of 2 keys")


@pytest.mark.row("AL23")
def test_a_name_is_trimmed(listed: Listed) -> None:
    assert listed.says("L1: [' /a/b/ ']") == ""
    assert listed.told() == ["a/b"]


@pytest.mark.row("AL24", "AL25")
@pytest.mark.parametrize("text", ["L4: [a/b: [p, q]]", "L3: {npu: {a/b: 'p, q'}}", "L3: {npu: {a/b: [p, q]}}"])
def test_oncalls_are_a_list_or_a_text_on_every_level(listed: Listed, text: str) -> None:
    assert listed.says(text) == ""
    assert one(text).oncalls == ("p", "q")
    _, shown = listed.shown()
    assert [entry["oncalls"] for entries in shown.values() for entry in entries] == [["p", "q"]]


@pytest.mark.row("AL26")
@pytest.mark.parametrize("key", ["L5", "l1", "maintainers"])
def test_an_unknown_key_is_a_warning(listed: Listed, key: str) -> None:
    text = f"{key}: [c/d]\nL1: [a/b]"
    (finding,) = read_allowlist(text).findings
    assert str(finding).startswith(f"1:1: warning: unknown key '{key}'")
    assert listed.says(text) == ""
    assert listed.told() == ["a/b"]


@pytest.mark.row("AL27")
@pytest.mark.parametrize("text", ["", "# nobody\n"])
def test_an_empty_document_is_an_empty_list(listed: Listed, text: str) -> None:
    assert listed.says(text) == ""
    assert listed.shown()[1] == {"L1": [], "L2": [], "L3": [], "L4": []}
    assert listed.told() == []


@pytest.mark.row("AL28")
def test_the_root_is_no_list(listed: Listed) -> None:
    listed.refuses("[a/b]", "the file must be a mapping")


@pytest.mark.row("AL29")
@pytest.mark.parametrize("url", ["https://raw.githubusercontent.com/pytorch/pytorch/main/x.yml", "https://x.example/y"])
def test_an_address_that_is_no_page_of_a_file(listed: Listed, url: str) -> None:
    """Is refused before anything is asked, at the start of the relay."""
    with pytest.raises(ValidationError, match="blob/<ref>/<path>"):
        RelaySettings(allowlist_url=url)
    with pytest.raises(LocationError):
        RemoteAllowlist(url, store=listed.world.context.store, fetch=listed.origin.fetch, now=listed.world.clock)
    assert listed.origin.asked == 1


@pytest.mark.row("AL30")
def test_the_dashboards_copy_outlives_its_source(listed: Listed) -> None:
    world = listed.world
    listed.origin.error = DOWN
    world.clock.tick(TTL_S)
    state, entries = listed.shown()
    assert (state, [entry["repo"] for entry in entries["L4"]]) == ("STALE", ["a/l4"])
    assert listed.told() == ALL
    listed.origin.error = None
    world.clock.tick(TTL_S)
    assert [listed.shown()[0] for _ in range(2)] == ["MISS", "HIT"]


@pytest.mark.row("AL30")
def test_without_a_copy_the_dashboard_is_told_so(listed: Listed) -> None:
    world = listed.world
    with world.context.store.writing() as session:
        session.delete(session.get_one(RemoteDocument, "allowlist"))
    listed.origin.error = DOWN
    answer = world.client.get("/api/crcr/allowlist")
    assert answer.status_code == 502
    assert "GitHub answered 502" in answer.json()["error"]


@pytest.mark.row("AT01", "AT07")
def test_an_entry_that_names_no_events_takes_part_in_all(listed: Listed) -> None:
    assert frozenset(Participation) >= EVERYTHING
    assert {backend.events for backend in parse_allowlist(FIXTURE).backends} == {EVERYTHING}
    _, shown = listed.shown()
    entries = [entry for level in shown.values() for entry in level]
    assert [entry["events"] for entry in entries] == [["nightly", "pull_request"]] * 4


@pytest.mark.row("AT02")
def test_metadata_of_a_plain_level(listed: Listed) -> None:
    text = "L2: [a/b: {events: [nightly], oncalls: [n]}]"
    assert listed.says(text) == ""
    assert one(text) == Backend("a/b", Level.L2, ("n",), frozenset([Participation.NIGHTLY]), None, 1)
    assert listed.told() == []


@pytest.mark.row("AT03")
def test_metadata_below_a_device(listed: Listed) -> None:
    text = "L3: {npu: {a/b: {events: [pull_request], oncalls: p}}}"
    assert listed.says(text) == ""
    assert one(text) == Backend("a/b", Level.L3, ("p",), frozenset([Participation.PULL_REQUEST]), "npu", 1)
    assert listed.told() == ["a/b"]


@pytest.mark.row("AT04")
def test_push_is_no_event_of_its_own(listed: Listed) -> None:
    listed.refuses("L2: [a/b: {events: [push]}]", "unsupported event 'push'")


@pytest.mark.row("AT05")
@pytest.mark.parametrize("text", ["L2: [a/b: {owner: x}]", "L3: {npu: {a/b: {owner: x}}}"])
def test_other_metadata_is_an_error(listed: Listed, text: str) -> None:
    listed.refuses(text, "unsupported metadata 'owner'")


@pytest.mark.row("AT06")
@pytest.mark.parametrize(
    ("events", "says"),
    [
        ("[]", "not an empty list"),
        ("[nightly, nightly]", "stands in line 1 already"),
        ("[5]", "unsupported event '5'"),
        ("nightly", "not 'nightly'"),
        ("{nightly: x}", "not a mapping"),
        ("", "not nothing"),
    ],
)
def test_events_that_are_no_list_of_distinct_known_ones(listed: Listed, events: str, says: str) -> None:
    listed.refuses(f"L2: [a/b: {{events: {events}}}]", says)


@pytest.mark.row("AT08")
def test_who_takes_part_in_what(listed: Listed) -> None:
    listed.says("L1: [a/both]\nL2: [a/n: {events: [nightly]}]\nL4: [a/p: {events: [pull_request]}]")
    allowlist = listed.source.current().allowlist
    assert names(allowlist.taking_part_in(Participation.PULL_REQUEST)) == ["a/both", "a/p"]
    assert names(allowlist.taking_part_in(Participation.NIGHTLY)) == ["a/both", "a/n"]
    assert listed.told() == ["a/both", "a/p"]


@pytest.mark.row("AT09")
def test_a_forced_refresh_asks_once_and_counts_for_all(listed: Listed) -> None:
    world = listed.world
    listed.origin.text = "L1: [a/new]"
    assert listed.told() == ALL
    assert names(listed.source.refresh().allowlist.backends) == ["a/new"]
    assert listed.origin.asked == 2
    other = RemoteAllowlist(PAGE, store=world.context.store, fetch=listed.origin.fetch, now=world.clock)
    assert names(other.current().allowlist.backends) == ["a/new"]
    assert listed.told() == ["a/new"]
    assert listed.origin.asked == 2


@dataclass
class Registered:
    """A relay that has read a file of CI providers before."""

    world: World
    origin: Origin
    source: RemoteProviders

    def says(self, text: str) -> Providers:
        """The registrations after the file was changed to this text."""
        self.origin.text = text
        return self.source.refresh()


@pytest.fixture
def registered(world: World) -> Registered:
    origin = Origin("providers: {buildkite: {repo_map: {before/it: a/before}}}")
    source = RemoteProviders(PAGE, store=world.context.store, fetch=origin.fetch, now=world.clock)
    assert source.current().lookup("before", "it") == ProviderEntry("a/before")
    return Registered(world, origin, source)


@pytest.mark.row("BK08")
def test_the_flat_form(registered: Registered) -> None:
    found = registered.says("buildkite: {o1/p1: a/b, o2/p2: c/d}")
    assert (found.lookup("o1", "p1"), found.lookup("o2", "p2")) == (ProviderEntry("a/b"), ProviderEntry("c/d"))
    assert found.lookup("before", "it") is None


@pytest.mark.row("BK09")
def test_the_flat_form_with_required_claims(registered: Registered) -> None:
    found = registered.says("buildkite: {o/p: {repo: a/b, required_claims: {branch: [main, nightly], cluster: c}}}")
    assert found.lookup("o", "p") == ProviderEntry("a/b", {"branch": ("main", "nightly"), "cluster": ("c",)})


@pytest.mark.row("BK10")
@pytest.mark.parametrize(
    ("value", "claims"),
    [("a/b", {}), ("{repo: a/b}", {}), ("{repo: a/b, required_claims: {branch: main}}", {"branch": ("main",)})],
)
def test_the_form_by_provider(registered: Registered, value: str, claims: dict[str, tuple[str, ...]]) -> None:
    found = registered.says(f"providers: {{buildkite: {{repo_map: {{o/p: {value}}}}}}}")
    assert found.lookup("o", "p") == ProviderEntry("a/b", claims)


@pytest.mark.row("BK11")
def test_a_file_cannot_name_whom_to_trust(registered: Registered) -> None:
    """The mapping is used; a token that its issuer signs is as foreign as before."""
    rogue = "https://rogue.example"
    section = f"{{issuer: '{rogue}', jwks_uri: '{rogue}/.well-known/jwks', repo_map: {{o/p: a/l2}}}}"
    assert registered.says(f"providers: {{buildkite: {section}}}").lookup("o", "p") == ProviderEntry("a/l2")
    world = registered.world
    claims: dict[str, object] = {"organization_id": "o", "pipeline_id": "p"}
    token = world.tokens.signed(rogue, world.clock(), claims, by=BUILDKITE_ISSUER)
    answer = world.callback({}, token=token)
    assert answer.status_code == 401
    assert "Unsupported OIDC issuer" in answer.json()["detail"]


@pytest.mark.row("BK12")
@pytest.mark.parametrize("text", ["", "providers: {github: {issuer: 'https://x.example'}}", "providers: {gitlab: {}}"])
def test_a_file_without_pipelines_clears_those_of_before(registered: Registered, text: str) -> None:
    assert registered.says(text) == Providers()


@pytest.mark.row("BK13")
def test_a_key_without_a_slash_is_skipped(registered: Registered) -> None:
    found = registered.says("providers: {buildkite: {repo_map: {alone: a/b, o/p: c/d}}}")
    assert found == Providers({("o", "p"): ProviderEntry("c/d")})


@pytest.mark.row("BK14")
@pytest.mark.parametrize("newer", ["{github: {}}", "{buildkite: {}}", "{buildkite: {repo_map: }}"])
def test_without_a_newer_map_the_flat_one_counts(registered: Registered, newer: str) -> None:
    found = registered.says(f"providers: {newer}\nbuildkite: {{o/p: a/b}}")
    assert found == parse_providers("buildkite: {o/p: a/b}")
    assert found.lookup("o", "p") == ProviderEntry("a/b")
