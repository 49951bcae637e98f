"""The sentences of `relay doctor` about what others said. Standard library only, as `text.py`."""

from __future__ import annotations


def device_unknown() -> str:
    return "what is built cannot be seen"


def device_not_built(wanted: str) -> str:
    return f"not built: {wanted} is not there"


def device_hint() -> str:
    return "machines that run tests need it: `relay device build`, then `relay device status`"


def no_app() -> str:
    return "none configured, nothing is dispatched to backends"


def half_an_app() -> str:
    return "only one of RELAY_GITHUB_APP_ID and RELAY_GITHUB_APP_PRIVATE_KEY is set"


def app(app_id: int, name: str) -> str:
    return f"{name} ({app_id})"


def app_hint() -> str:
    return "set RELAY_GITHUB_APP_ID and RELAY_GITHUB_APP_PRIVATE_KEY to those of one App, or neither"


def app_refused_hint() -> str:
    return "RELAY_GITHUB_APP_ID and the key have to be of the same App; GitHub shows both on the App's page"


def github_hint(api_url: str) -> str:
    return f"what is to be sent waits; see whether {api_url} (RELAY_GITHUB_API_URL) can be reached from here"


def model_away_hint() -> str:
    return "the offline ranker answers until it does; check RELAY_LLM_BASE_URL"


def model_key_hint() -> str:
    return "the model does not take the key: check RELAY_LLM_API_KEY"
