"""The protocol's parts as the settings name them, and what keeps a relay from starting."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from relay.app import create_app, create_context
from relay.assembly import crcr_parts
from relay.background import create_errands
from relay.context import RelayContext
from relay.errors import SettingsError
from relay.settings import RelaySettings
from relay.store.crcr_models import RemoteDocument
from tests.waiting import until


def _named(settings: RelaySettings, **changes: object) -> RelaySettings:
    return RelaySettings.model_validate({**settings.model_dump(), **changes})


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, str]:
    """Both lists on this machine, by their settings."""
    allowlist, providers = tmp_path / "allowlist.yml", tmp_path / "providers.yml"
    allowlist.write_text("L2: [a/b]", encoding="utf-8")
    providers.write_text("providers: {buildkite: {repo_map: {o1/p1: a/b}}}", encoding="utf-8")
    return {"allowlist_url": allowlist.as_uri(), "ci_providers_url": providers.as_uri()}


def _read(context: RelayContext) -> list[str]:
    with context.store.reading() as session:
        return sorted(row.name for row in session.query(RemoteDocument) if row.good_text and not row.problem)


def test_without_an_allowlist_there_is_no_protocol(settings: RelaySettings) -> None:
    """A relay for one machine needs none."""
    context = create_context(settings)
    assert context.crcr is None
    assert context.outbox is None
    context.close()


def test_the_lists_are_read_before_anybody_asks(settings: RelaySettings, lists: dict[str, str]) -> None:
    """In the background, so that no request waits for them; without an App the rest works, and what is sent waits."""
    context = create_context(_named(settings, **lists))
    assert context.crcr is not None
    assert context.crcr.github is None
    errands = create_errands(context)
    errands.start()
    until(lambda: _read(context) == ["allowlist", "ci-providers"])
    errands.stop()
    assert context.crcr.allowlist.current().allowlist.find("a/b") is not None
    context.close()


def test_a_relay_like_the_original_starts_with_all_it_needs_or_not_at_all(
    settings: RelaySettings, lists: dict[str, str]
) -> None:
    """What is missing is named. In the default mode a part of it is enough."""
    with pytest.raises(SettingsError, match=r"RELAY_GITHUB_APP_ID .* RELAY_GITHUB_APP_PRIVATE_KEY") as caught:
        create_app(_named(settings, crcr_strict_compat=True, **lists))
    assert "RELAY_ALLOWLIST_URL" not in str(caught.value)
    with pytest.raises(SettingsError, match="RELAY_ALLOWLIST_URL"):
        create_app(_named(settings, crcr_strict_compat=True))


def test_comment_commands_without_an_app_keep_the_relay_from_starting(settings: RelaySettings) -> None:
    """Nobody could be answered."""
    with pytest.raises(SettingsError, match="RELAY_COMMENT_COMMANDS needs a GitHub App"):
        create_app(settings.model_copy(update={"comment_commands": "upstream"}))


def test_a_key_that_is_none_keeps_the_relay_from_starting(
    settings: RelaySettings, lists: dict[str, str], context: RelayContext
) -> None:
    """Without repeating it."""
    given = _named(settings, github_app_id=1, github_app_private_key="hunter2", **lists)
    with pytest.raises(SettingsError, match="RELAY_GITHUB_APP_PRIVATE_KEY") as caught:
        crcr_parts(given, context.store, lambda: datetime.now(UTC))
    assert "hunter2" not in str(caught.value)
