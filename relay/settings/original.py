"""The names that the original relay gives to what we set under RELAY_*, so that its environment can be kept.

Owns the correspondence (crcr-protocol 4.1, 4.2). Pure: it is handed a look-up and reads no environment itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic_settings import SettingsError as UnreadableVariable

from relay.settings.values import redis_url

#: Our setting -> the original's variable. `INTERNAL_API_TOKEN` is its dashboard's.
ORIGINAL_NAMES: Mapping[str, str] = {
    "upstream_repo": "UPSTREAM_REPO",
    "webhook_secret": "GITHUB_APP_SECRET",
    "github_app_id": "GITHUB_APP_ID",
    "github_app_private_key": "GITHUB_APP_PRIVATE_KEY",
    "allowlist_url": "ALLOWLIST_URL",
    "allowlist_ttl_s": "ALLOWLIST_TTL_SECONDS",
    "ci_providers_url": "CI_PROVIDERS_URL",
    "hud_url": "HUD_API_URL",
    "hud_key": "HUD_BOT_KEY",
    "hud_intake_key": "INTERNAL_API_TOKEN",
    "hud_max_retries": "HUD_MAX_RETRIES",
    "crcr_dispatch_workers": "MAX_DISPATCH_WORKERS",
    "crcr_status_ttl_s": "CRCR_STATUS_TTL",
    "crcr_rate_per_min": "RATE_LIMIT_PER_MIN",
    "crcr_zombie_timeout_s": "ZOMBIE_TIMEOUT_SECONDS",
    "crcr_cleanup_workers": "MAX_CLEANUP_WORKERS",
    "crcr_in_progress_warn": "IN_PROGRESS_WARN_THRESHOLD",
}
#: Variables of the original that have no setting of ours to themselves, or none at all.
REDIS_ENDPOINT, REDIS_LOGIN = "REDIS_ENDPOINT", "REDIS_LOGIN"
SECRET_STORE, ON_LAMBDA = "SECRET_STORE_ARN", "AWS_LAMBDA_FUNCTION_NAME"
ALL_NAMES = frozenset({*ORIGINAL_NAMES.values(), REDIS_ENDPOINT, REDIS_LOGIN, SECRET_STORE, ON_LAMBDA})
#: What the original sends to when it is told nothing else.
ORIGINAL_HUD = "https://hud.pytorch.org/api"
#: Settings that the original may have kept in its secret store.
_KEPT_IN_STORE = ("webhook_secret", "github_app_private_key")

#: Variable -> its text, None when it is not set. An empty text is a text.
LookUp = Callable[[str], str | None]


def original_values(known: Mapping[str, object], look_up: LookUp) -> dict[str, object]:
    """What the original's variables say about settings that are not known yet.

    Raises:
        UnreadableVariable: a variable is of a form that the original refuses, too; its value is not quoted.
    """
    found: dict[str, object] = {}
    for setting, variable in ORIGINAL_NAMES.items():
        if setting not in known and (text := look_up(variable)):
            found[setting] = text
    if "hud_url" not in {*known, *found} and look_up("HUD_API_URL") is None and "hud_key" in found:
        # The original forwards there unless it is told not to; its key alone means that it did.
        found["hud_url"] = ORIGINAL_HUD
    if "broker_url" not in known and (endpoint := look_up(REDIS_ENDPOINT)) is not None:
        found["broker_url"] = _broker(endpoint, look_up)
    return found


def refuse_foreign_store(known: Mapping[str, object], look_up: LookUp) -> None:
    """A secret that lies where we do not look must not be replaced by one that is made up here.

    Raises:
        UnreadableVariable: the original's store is named, and what it kept is not known.
    """
    missing = [ORIGINAL_NAMES[setting] for setting in _KEPT_IN_STORE if setting not in known]
    if missing and look_up(SECRET_STORE):
        raise UnreadableVariable(
            f"{SECRET_STORE}: this store is not read, and {' and '.join(missing)} must then come from elsewhere. Mount "
            "the secrets as files of these names and give their folder as RELAY_SECRETS_DIR, or set the variables."
        )


def _broker(endpoint: str, look_up: LookUp) -> str:
    try:
        return redis_url(endpoint, look_up(REDIS_LOGIN) or "", encrypted=bool(look_up(ON_LAMBDA)))
    except ValueError as error:
        raise UnreadableVariable(f"{REDIS_ENDPOINT}: {error}") from error
