"""What a worker process is told from outside: `RELAY_*` environment variables, read once and frozen.

Owns the checks that can be made without talking to anybody. A worker machine runs untrusted upstream code, so it is
given a broker URL, the relay's URL and one token, and no database password and no GitHub key.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableVariable

from relay.contract import (
    DEVICE_NAME,
    EMULATOR,
    REFERENCE_DEVICE,
    BackendDescription,
    BackendError,
    read_backend,
)
from relay.trail.known_secrets import known_secrets
from relay.trail.secret_file import named_file
from selector.manifests.profiles import Profile
from workers.builds.build_process import parsed_command
from workers.runner.sandbox import SandboxMode
from workers.spyre.cache import default_cache
from workers.upstream.proxy import checked_proxy

#: What may be given in a file.
SECRETS = ("worker_token", "broker_url", "git_proxy")

PositiveSeconds = Annotated[float, Field(gt=0)]


class SettingsError(Exception):
    """The settings cannot be used; the message has one line per problem and names the variable to set."""


class _NamedFiles(PydanticBaseSettingsSource):
    """The secrets in files."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """A part of the base class's own way to go through fields, which is not gone here."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The values, by setting. Raises pydantic_settings.SettingsError naming the variable."""
        return {name: text for name in SECRETS if (text := named_file(name))}


def _own_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


class WorkerSettings(BaseSettings):
    """Settings of one worker process. Durations are seconds, sizes are bytes.

    The secrets may come from files, which `RELAY_WORKER_TOKEN_FILE`, `RELAY_BROKER_URL_FILE` and `RELAY_GIT_PROXY_FILE`
    name (the way a secret is mounted into a container).
    """

    model_config = SettingsConfigDict(env_prefix="RELAY_", extra="ignore", frozen=True, env_ignore_empty=True)

    url: str
    broker_url: SecretStr
    worker_token: SecretStr | None = None
    worker_name: str = Field(default_factory=_own_name, min_length=1, max_length=200)
    worker_concurrency: int = Field(default=1, ge=1, le=64)
    # The description of the worker's device; without it the device is the emulator, or the CPU.
    backend: Path | None = None
    device: str = Field(default="spyre", pattern=DEVICE_NAME)
    manifest_profile: Profile = Profile.COMPAT
    work_dir: Path = Path(".relay/work")
    device_cache: Path | None = None
    device_profile: str = Field(default="compat", min_length=1)
    build_command: str | None = None
    build_timeout_s: PositiveSeconds = 7200
    build_cache_bytes: int = Field(default=20 << 30, ge=0)
    sandbox: SandboxMode = SandboxMode.AUTO
    function_map: Path | None = None
    model_weights: Path | None = None
    llm_transcript: Path | None = None
    log_level: str = "INFO"
    git_proxy: SecretStr | None = None
    git_timeout_s: PositiveSeconds = 1800
    test_timeout_s: PositiveSeconds = 60
    file_timeout_s: PositiveSeconds = 600
    collect_timeout_s: PositiveSeconds = 120

    _described: BackendDescription = PrivateAttr()

    @field_validator("url")
    @classmethod
    def _http_only(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return url.rstrip("/")

    @field_validator("work_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return folder.expanduser().resolve()

    @field_validator("function_map", "model_weights")
    @classmethod
    def _from_here(cls, path: Path | None) -> Path | None:
        return path.expanduser().resolve() if path is not None else None

    @field_validator("device_profile")
    @classmethod
    def _whole_path(cls, profile: str) -> str:
        """Test processes run in other folders than the worker."""
        return str(Path(profile).expanduser().resolve()) if profile.endswith(".toml") else profile

    @field_validator("build_command")
    @classmethod
    def _words(cls, command: str | None) -> str | None:
        if command is not None:
            parsed_command(command)
        return command

    @field_validator("git_proxy")
    @classmethod
    def _known_to_git(cls, proxy: SecretStr | None) -> SecretStr | None:
        return SecretStr(checked_proxy(proxy.get_secret_value().strip())) if proxy is not None else None

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, level: str) -> str:
        if level.upper() not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
            raise ValueError("must be one of DEBUG, INFO, WARNING, ERROR")
        return level.upper()

    @model_validator(mode="after")
    def _token_given(self) -> Self:
        if not self.token:
            raise ValueError("set RELAY_WORKER_TOKEN, or RELAY_WORKER_TOKEN_FILE to a file that holds the token")
        return self

    @model_validator(mode="after")
    def _as_described(self) -> Self:
        """The file and the variables may say the same twice, and nothing different."""
        if self.backend is None:
            package = None if self.device == REFERENCE_DEVICE else EMULATOR
            self._described = BackendDescription(device=self.device, package=package)
            return self
        try:
            self._described = described = read_backend(self.backend.expanduser())
        except BackendError as error:
            raise ValueError(f"RELAY_BACKEND: {error}") from error
        profile = described.profile if described.package == EMULATOR else ""
        for name, value in (("device", described.device), ("device_profile", profile)):
            if name in self.model_fields_set and getattr(self, name) != value:
                raise ValueError(
                    f"RELAY_{name.upper()} is {getattr(self, name)}, and RELAY_BACKEND describes {value or 'none'}. "
                    "Leave the variable out."
                )
            object.__setattr__(self, name, value)  # frozen for everybody else
        return self

    @property
    def package(self) -> str | None:
        """What registers the device when it is imported; None for the CPU, which torch has."""
        return self._described.package

    @property
    def queue(self) -> str:
        """The name of the queue that wakes this worker."""
        return self._described.queue_of_device

    @property
    def token(self) -> str:
        """The worker token in clear, for the one place that sends it."""
        return self.worker_token.get_secret_value().strip() if self.worker_token is not None else ""

    @property
    def proxy_of_git(self) -> str:
        """The address of the proxy in clear, for git; empty without one."""
        return self.git_proxy.get_secret_value() if self.git_proxy is not None else ""

    def own_secrets(self) -> tuple[str, ...]:
        """What this process knows and nobody may read in a log."""
        return known_secrets(self)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The caller, then `RELAY_*` variables, then the files that they name."""
        return init_settings, env_settings, _NamedFiles(settings_cls)

    @property
    def libraries(self) -> Path:
        """Where compiled device libraries are kept: `RELAY_DEVICE_CACHE`, else where `import torch` looks for them too.

        Raises `workers.spyre.cache.CacheError`.
        """
        return self.device_cache.expanduser().resolve() if self.device_cache else default_cache()


def load_settings() -> WorkerSettings:
    """Read the environment.

    Raises:
        SettingsError: with a line for every setting that is missing or wrong; never with a secret's value.
    """
    try:
        return WorkerSettings.model_validate({})  # `BaseSettings` fills what is not given from the environment
    except UnreadableVariable as error:
        raise SettingsError(str(error)) from None
    except ValidationError as error:
        # `include_input=False`: the refused input may be a token or a broker password.
        problems = [_sentence(item["loc"], item["msg"]) for item in error.errors(include_input=False)]
        raise SettingsError("\n".join(problems)) from None


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    message = message.removeprefix("Value error, ")
    if not location:
        return message
    variable = f"RELAY_{str(location[0]).upper()}"
    if message == "Field required":
        return f"{variable} is not set. Set it to the same value the relay uses, or start the worker by `relay worker`."
    return f"{variable}: {message}"
