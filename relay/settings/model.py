"""What can be set, with its default and its bounds. Where a value comes from is said elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from relay.allowlist.locations import GITHUB_WEB, parse_location
from relay.allowlist.types import MINIMUM_TTL_S
from relay.settings.proxies import proxy_networks
from relay.settings.sources import FallbackSource
from relay.settings.values import CADENCES, COMMENTED, SECRET_MINIMUM, local_address, safe_address, web_address
from relay.trail.known_secrets import in_address

MEBIBYTE = 1024 * 1024
#: Addresses that may hold a login: they are used, and shown to nobody.
WITH_LOGIN = frozenset({"database_url", "broker_url", "upstream_clone_url", "llm_base_url"})
#: Days. Webhooks are repeated, and dispatches answered, within three.
RETENTION_MINIMUM = 7

_MANIFESTS_HERE = Path("test_manifests")
_MANIFESTS_SHIPPED = Path(__file__).parent.parent / "data" / "test_manifests"


def default_manifest_dir() -> Path:
    """The folder a checkout has; else the manifests shipped in the wheel, so that an installed relay has some."""
    return _MANIFESTS_SHIPPED if not _MANIFESTS_HERE.is_dir() and _MANIFESTS_SHIPPED.is_dir() else _MANIFESTS_HERE


class RelaySettings(BaseSettings):
    """Settings of one relay process. Durations are seconds, sizes bytes."""

    model_config = SettingsConfigDict(
        env_prefix="RELAY_", frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )

    state_dir: Path = Path(".relay")
    # Files named as settings, for secrets that no variable gives.
    secrets_dir: Path | None = None
    # What is of `WITH_LOGIN` can hold a password.
    database_url: Annotated[str, Field(repr=False)] = ""
    broker_url: Annotated[str, Field(repr=False)] = ""
    upgrade_on_start: bool = True

    public_url: str = "http://127.0.0.1:8000"
    upstream_repo: Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")] = "pytorch/pytorch"
    upstream_clone_url: Annotated[str, Field(repr=False)] = "https://github.com/pytorch/pytorch.git"
    device: str = "spyre"
    manifest_dir: Path = Field(default_factory=default_manifest_dir)
    # Descriptions of backends, files or folders of them, comma-separated: more devices than one, or another's details.
    backends: str = ""

    webhook_secret: SecretStr | None = None
    worker_token: SecretStr | None = None
    operator_token: SecretStr | None = None
    # Whether everybody who reaches the service may read, or only who has a token.
    read_access: Literal["public", "token"] = "public"
    # Proxies whose X-Forwarded-For is believed: addresses and networks, comma-separated.
    trusted_proxies: str = ""
    webhook_max_bytes: Annotated[int, Field(gt=0)] = 2 * MEBIBYTE

    lease_seconds: Annotated[float, Field(gt=0)] = 30.0
    max_attempts: Annotated[int, Field(ge=1)] = 3
    sweep_seconds: Annotated[float, Field(gt=0)] = 2.0
    shard_size: Annotated[int, Field(ge=1)] = 200
    shard_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300.0
    # The order of the queue, as `relay.runs.scheduling.Policy` explains it; shares are of the workers.
    ageing_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 3_600.0
    group_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    background_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    queue_deep_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1_800.0
    # Of tests that a pull request may plan while the queue is deep, beside those that must run.
    deep_budget_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 600.0
    # Of what one attempt at a shard prints; 0 keeps nothing of it.
    log_shard_bytes: Annotated[int, Field(ge=0)] = 4 * MEBIBYTE

    # Labels of a pull request, and logins of authors (or "*"), for whom everything runs; comma-separated.
    full_labels: str = "full,ci-no-td"
    full_for: str = ""
    selection_budget_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    holdout_share: Annotated[float, Field(ge=0, le=1)] = 0.03

    # The GitHub App this relay acts as; without both it reads and records, and what must be sent to GitHub waits.
    github_app_id: Annotated[int, Field(gt=0)] | None = None
    github_app_private_key: SecretStr | None = None
    github_api_url: str = "https://api.github.com"
    github_timeout_s: Annotated[float, Field(gt=0)] = 20.0
    github_web_url: str = GITHUB_WEB
    # `<github_web_url>/<owner>/<name>/blob/<ref>/<path>` or `file:<path>`; without it no backend is told of anything.
    allowlist_url: str = ""
    allowlist_ttl_s: Annotated[int, Field(gt=0)] = MINIMUM_TTL_S
    ci_providers_url: str = ""
    # Where results are sent on to, and the keys of both directions.
    hud_url: str = ""
    hud_key: SecretStr | None = None
    hud_intake_key: SecretStr | None = None
    hud_max_retries: Annotated[int, Field(ge=0)] = 3
    # Only for a GitHub of one's own: an issuer of tokens on this machine.
    dev_oidc_issuer: str = ""
    crcr_strict_compat: bool = False
    crcr_push_refs: str = "refs/heads/main,refs/heads/viable/strict,refs/tags/ciflow/*"
    crcr_dispatch_workers: Annotated[int, Field(gt=0)] = 32
    crcr_status_ttl_s: Annotated[int, Field(gt=0)] = 259_200
    crcr_rate_per_min: Annotated[int, Field(gt=0)] = 100
    crcr_zombie_timeout_s: Annotated[int, Field(gt=0)] = 21_600
    crcr_cleanup_workers: Annotated[int, Field(gt=0)] = 16
    crcr_in_progress_warn: Annotated[int, Field(gt=0)] = 1_000
    # Whether GitHub is asked to cancel backends' runs for commits that a pull request has left behind.
    crcr_cancel_superseded: bool = False
    # How often backends promise scheduled results, as "owner/name=24h, owner/name:periodic=6h". A nightly one is
    # expected every 24 h unless another cadence is said here, a periodic one only if it is.
    crcr_cadences: Annotated[str, Field(pattern=CADENCES)] = ""

    # Where comments on pull requests are read for commands: "upstream", "owner/name", several with commas.
    comment_commands: Annotated[str, Field(pattern=COMMENTED)] = "off"

    # After how many days settled letters, webhooks' bodies and logs are removed; 0 keeps them. GitHub repeats webhooks
    # for three days, and a repeat must be known as one.
    retention_days: Annotated[int, Field(ge=0, le=36_500)] = 90

    # "HH:MM" in UTC; without it no audit starts by itself.
    audit_at: Annotated[str, Field(pattern=r"^(([01]\d|2[0-3]):[0-5]\d)?$")] = ""

    llm_base_url: Annotated[str, Field(repr=False)] = ""
    llm_model: str = ""
    llm_api_key: SecretStr | None = None
    llm_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    llm_provider: Literal["openai", "anthropic", "recorded"] = "openai"
    llm_transcript: Path | None = None
    # Of one consultation. Prices are dollars for a million tokens; without them the money bounds nothing.
    llm_calls: Annotated[int, Field(ge=0, le=8)] = 8
    llm_rounds: Annotated[int, Field(ge=0, le=3)] = 3
    llm_tokens: Annotated[int, Field(gt=0)] = 200_000
    llm_answer_tokens: Annotated[int, Field(gt=0)] = 8_000
    llm_wall_s: Annotated[float, Field(gt=0)] = 120.0
    llm_money: Annotated[float, Field(ge=0)] = 0.05
    llm_price_in: Annotated[float, Field(ge=0)] = 0.0
    llm_price_out: Annotated[float, Field(ge=0)] = 0.0

    @field_validator("*")
    @classmethod
    def _shown_without_login(cls, value: object, info: ValidationInfo) -> object:
        # Of every setting, so that one that is added is asked as well.
        if isinstance(value, str) and info.field_name not in WITH_LOGIN and any(in_address(value)):
            raise ValueError("must not hold a user or a password, because people are shown this address")
        return value

    @field_validator("state_dir", "manifest_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("public_url", "llm_base_url")
    @classmethod
    def _without_trailing_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @field_validator("github_api_url", "github_web_url")
    @classmethod
    def _a_web_address(cls, value: str) -> str:
        return web_address(value)

    @field_validator("retention_days")
    @classmethod
    def _longer_than_repeats(cls, value: int) -> int:
        if 0 < value < RETENTION_MINIMUM:
            raise ValueError(f"must be {RETENTION_MINIMUM} or more, or 0 to keep everything")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: str) -> str:
        proxy_networks(value)
        return value

    @field_validator("hud_url")
    @classmethod
    def _a_safe_address(cls, value: str) -> str:
        return value and safe_address(value)

    @field_validator("dev_oidc_issuer")
    @classmethod
    def _a_local_address(cls, value: str) -> str:
        return value and local_address(value)

    @field_validator("allowlist_url", "ci_providers_url")
    @classmethod
    def _a_list(cls, value: str, info: ValidationInfo) -> str:
        # `github_web_url` is absent when it was refused itself; then that is what is told.
        if value and "github_web_url" in info.data:
            parse_location(value, info.data["github_web_url"])
        return value

    @field_validator("allowlist_ttl_s")
    @classmethod
    def _long_enough_to_live(cls, value: int) -> int:
        return max(value, MINIMUM_TTL_S)

    @field_validator("webhook_secret", "worker_token", "operator_token")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < SECRET_MINIMUM:
            raise ValueError(f"needs at least {SECRET_MINIMUM} characters, or leave it out to have one made")
        return value

    @field_validator("broker_url")
    @classmethod
    def _names_a_broker(cls, value: str) -> str:
        # Celery takes a word without a scheme for a host, and waits for it for ever.
        if value and "://" not in value:
            raise ValueError("is no address of a broker; write redis://HOST:PORT/0 or filesystem:///FOLDER")
        return value

    @model_validator(mode="after")
    def _fill_urls(self) -> RelaySettings:
        # Frozen for everybody else: the defaults depend on another field, so they are filled in here, once.
        if not self.database_url:
            object.__setattr__(self, "database_url", f"sqlite:///{self.state_dir / 'relay.db'}")
        if not self.broker_url:
            object.__setattr__(self, "broker_url", f"filesystem://{self.state_dir / 'broker'}")
        if bool(self.llm_base_url) != bool(self.llm_model):
            raise ValueError("RELAY_LLM_BASE_URL and RELAY_LLM_MODEL belong together: set both or none")
        if self.comment_commands != "off" and self.crcr_strict_compat:
            raise ValueError(
                "RELAY_COMMENT_COMMANDS and RELAY_CRCR_STRICT_COMPAT exclude each other: the original relay takes no "
                "commands. Set one of them to off"
            )
        if self.llm_provider == "recorded" and self.llm_transcript is None:
            raise ValueError("RELAY_LLM_PROVIDER=recorded needs RELAY_LLM_TRANSCRIPT, the file to play back")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The caller, `RELAY_*` variables, the original relay's variables and the folder of secrets, in this order."""
        return init_settings, env_settings, FallbackSource(settings_cls)

    @property
    def backend_places(self) -> tuple[Path, ...]:
        """The files and folders that describe backends."""
        places = (place.strip() for place in self.backends.split(","))
        return tuple(Path(place).expanduser().absolute() for place in places if place)

    @property
    def llm_configured(self) -> bool:
        """Whether stage 3 may ask a model."""
        return self.llm_provider == "recorded" or bool(self.llm_base_url and self.llm_model)
