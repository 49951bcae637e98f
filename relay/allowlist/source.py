"""The allowlist and the CI providers in force, each from its address. Joins a kept text with its grammar, and tells
operators what looks wrong in a text that is used all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import structlog

from relay.allowlist.fetching import Fetch
from relay.allowlist.findings import AllowlistError, Finding, ProvidersError, summary
from relay.allowlist.grammar import read_allowlist
from relay.allowlist.kept_text import KeptText, Value
from relay.allowlist.locations import GITHUB_WEB, BlobLocation, parse_location
from relay.allowlist.providers import Providers, read_providers
from relay.allowlist.types import MINIMUM_TTL_S, Allowlist, LoadedAllowlist
from relay.store.engine import Store

_log = structlog.get_logger(__name__)


class RemoteAllowlist:
    """The allowlist of an address (`relay.parts.AllowlistSource`)."""

    def __init__(
        self,
        url: str,
        *,
        store: Store,
        fetch: Fetch,
        now: Callable[[], datetime],
        ttl_s: float = MINIMUM_TTL_S,
        web_url: str = GITHUB_WEB,
    ) -> None:
        """Raises LocationError when the address names no list on `web_url`."""
        self._location = parse_location(url, web_url)
        ttl_s = max(ttl_s, MINIMUM_TTL_S)
        self._text = KeptText("allowlist", url, _allowlist, store=store, fetch=fetch, ttl_s=ttl_s, now=now)

    def current(self) -> LoadedAllowlist:
        """The allowlist in force; its source is asked again when its time is over.

        Raises:
            AllowlistUnavailableError: none was ever good.
        """
        return _loaded(self._text.current())

    def refresh(self) -> LoadedAllowlist:
        """The same after asking now.

        Raises:
            AllowlistUnavailableError: none was ever good.
        """
        return _loaded(self._text.refresh())

    def tend(self) -> None:
        """Ask the source shortly before the time is over; for a background thread."""
        self._text.tend()

    def kept(self) -> LoadedAllowlist:
        """The one that the record has, asking nobody.

        Raises:
            AllowlistUnavailableError: none was ever good.
            SQLAlchemyError: the record cannot be read.
        """
        return _loaded(self._text.kept())

    def names_path(self, paths: Sequence[str], repo: str, ref: str) -> bool:
        """Whether a push to `ref` of `repo` that touches `paths` changes the allowlist's own file."""
        return isinstance(self._location, BlobLocation) and self._location.is_changed_by(paths, repo, ref)


class RemoteProviders:
    """The registered CI pipelines of an address. `current` is what a token verifier asks."""

    def __init__(
        self,
        url: str,
        *,
        store: Store,
        fetch: Fetch,
        now: Callable[[], datetime],
        ttl_s: float = MINIMUM_TTL_S,
        web_url: str = GITHUB_WEB,
    ) -> None:
        """Raises LocationError when the address names no file on `web_url`."""
        parse_location(url, web_url)
        ttl_s = max(ttl_s, MINIMUM_TTL_S)
        self._text = KeptText("ci-providers", url, _providers, store=store, fetch=fetch, ttl_s=ttl_s, now=now)

    def current(self) -> Providers:
        """The registrations in force.

        Raises:
            AllowlistUnavailableError: none were ever good.
        """
        return self._text.current().value

    def tend(self) -> None:
        """Ask the source shortly before the time is over; for a background thread."""
        self._text.tend()

    def refresh(self) -> Providers:
        """The same after asking now.

        Raises:
            AllowlistUnavailableError: none were ever good.
        """
        return self._text.refresh().value


def no_providers() -> Providers:
    """The registrations of a relay that was given no address of any: none."""
    return Providers()


def _loaded(found: Value[Allowlist]) -> LoadedAllowlist:
    return LoadedAllowlist(found.value, found.read_at, found.problem)


def _allowlist(text: str) -> Allowlist:
    reading = read_allowlist(text)
    if reading.allowlist is None:
        raise AllowlistError(reading.findings)
    _tell("allowlist", reading.findings)
    return reading.allowlist


def _providers(text: str) -> Providers:
    reading = read_providers(text)
    if reading.providers is None:
        raise ProvidersError(reading.findings)
    _tell("ci providers", reading.findings)
    return reading.providers


def _tell(what: str, oddities: Sequence[Finding]) -> None:
    # One line for the whole text: a long one would otherwise drown the log of every process.
    if oddities:
        _log.warning("list_looks_wrong", list=what, count=len(oddities), findings=summary(oddities))
