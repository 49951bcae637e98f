"""Builds the parts of the CRCR protocol that the settings name: the allowlist, GitHub, who a token speaks for.

Part of the composition root. Holds no logic of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from relay.allowlist.fetching import TextSource
from relay.allowlist.locations import LocationError
from relay.allowlist.source import RemoteAllowlist, RemoteProviders, no_providers
from relay.errors import SettingsError
from relay.github.app import GitHubApp
from relay.oidc.verifier import OidcVerifier
from relay.parts import CrcrParts
from relay.settings import RelaySettings, require_comments, require_protocol
from relay.store.engine import Store


def crcr_parts(settings: RelaySettings, store: Store, now: Callable[[], datetime]) -> CrcrParts | None:
    """The protocol's parts, None when there is no allowlist: this relay then tells nobody of anything.

    Raises:
        SettingsError: an address, the App's key or the local issuer cannot be what it says; or something is missing
            without which the original relay does not start, and this one is to be like it.
    """
    if settings.crcr_strict_compat:
        require_protocol(settings)
    if settings.comment_commands != "off":
        require_comments(settings)
    if not settings.allowlist_url:
        return None
    github = _github(settings, now)
    source = TextSource(web_url=settings.github_web_url, api_url=settings.github_api_url, github=github)
    try:
        allowlist = RemoteAllowlist(
            settings.allowlist_url,
            store=store,
            fetch=source.fetch,
            now=now,
            ttl_s=settings.allowlist_ttl_s,
            web_url=settings.github_web_url,
        )
    except LocationError as error:
        raise SettingsError(f"RELAY_ALLOWLIST_URL: {error}") from error
    providers = _providers(settings, store, source, now)
    registrations = no_providers if providers is None else providers.current
    verifier = OidcVerifier(
        registrations, strict=settings.crcr_strict_compat, dev_issuer=settings.dev_oidc_issuer, now=now
    )
    upkeep = (allowlist.tend,) if providers is None else (allowlist.tend, providers.tend)
    return CrcrParts(allowlist, verifier, github, upkeep)


def _github(settings: RelaySettings, now: Callable[[], datetime]) -> GitHubApp | None:
    if settings.github_app_id is None or settings.github_app_private_key is None:
        return None
    return GitHubApp(
        settings.github_app_id,
        settings.github_app_private_key,
        api_url=settings.github_api_url,
        timeout_s=settings.github_timeout_s,
        now=now,
    )


def _providers(
    settings: RelaySettings, store: Store, source: TextSource, now: Callable[[], datetime]
) -> RemoteProviders | None:
    if not settings.ci_providers_url:
        return None
    try:
        return RemoteProviders(
            settings.ci_providers_url,
            store=store,
            fetch=source.fetch,
            now=now,
            ttl_s=settings.allowlist_ttl_s,
            web_url=settings.github_web_url,
        )
    except LocationError as error:
        raise SettingsError(f"RELAY_CI_PROVIDERS_URL: {error}") from error
