"""A secret in a file that a variable of its own names, as Docker's images have it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pydantic import SecretStr

from relay.cli.connect import BadSettings, load_settings
from relay.settings import RelaySettings, variable_of
from relay.settings.secret_folder import SECRETS
from relay.trail.secret_file import open_to_others

#: The set-up is told by the variables that these tests set themselves.
pytestmark = pytest.mark.embedded("about what is set")

SECRET = "a-secret-of-more-than-16-characters"


def given(monkeypatch: pytest.MonkeyPatch, name: str, file: Path) -> None:
    monkeypatch.setenv(f"RELAY_{name.upper()}_FILE", str(file))


def plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


@pytest.mark.parametrize("name", SECRETS)
def test_every_secret_can_be_in_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """White space and a mark before it, which editors leave, is no part of it; errors call it by its variable."""
    content = "redis://:p@cache:6379/0" if name.endswith("_url") else SECRET
    (tmp_path / "given").write_text(f"\ufeff\n{content}\r\n")
    given(monkeypatch, name, tmp_path / "given")
    if name == "llm_base_url":
        monkeypatch.setenv("RELAY_LLM_MODEL", "m")  # they belong together
    assert plain(getattr(RelaySettings(), name)) == content
    assert variable_of(name) == f"RELAY_{name.upper()}_FILE"


def test_it_goes_before_the_originals_variable_and_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "given").write_text(SECRET)
    (tmp_path / "webhook_secret").write_text("of-the-folder-of-secrets")
    monkeypatch.setenv("RELAY_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("GITHUB_APP_SECRET", "of-the-original-relay")
    given(monkeypatch, "webhook_secret", tmp_path / "given")
    assert plain(RelaySettings().webhook_secret) == SECRET


def test_what_a_program_is_told_goes_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "given").write_text(SECRET)
    given(monkeypatch, "webhook_secret", tmp_path / "given")
    assert plain(RelaySettings(webhook_secret=SecretStr("told-by-the-program")).webhook_secret) == "told-by-the-program"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda _: None, "cannot be read: No such file or directory"),
        (lambda file: file.mkdir(), "cannot be read: Is a directory"),
        (lambda file: file.write_bytes(b"\xff" + SECRET.encode()), "is not UTF-8 text"),
        (lambda file: file.write_text(SECRET * 4_000), "is larger than 64 KiB"),
        (lambda file: file.write_text(" \n"), "is empty"),
        (os.mkfifo, "is empty"),
    ],
)
def test_a_file_of_no_use_is_named_and_not_quoted(
    make: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(make)
    make(tmp_path / "given")
    given(monkeypatch, "webhook_secret", tmp_path / "given")
    with pytest.raises(BadSettings) as refused:
        load_settings()
    assert f"RELAY_WEBHOOK_SECRET_FILE: {tmp_path / 'given'} {said}" in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_secret_that_is_given_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the two is in force should not be a riddle."""
    (tmp_path / "given").write_text(SECRET)
    given(monkeypatch, "webhook_secret", tmp_path / "given")
    monkeypatch.setenv("RELAY_WEBHOOK_SECRET", SECRET)
    with pytest.raises(BadSettings, match="RELAY_WEBHOOK_SECRET and RELAY_WEBHOOK_SECRET_FILE are both set") as refused:
        load_settings()
    assert SECRET not in str(refused.value)


def test_a_file_that_others_may_read_is_known() -> None:
    """Unless a folder above keeps them out, or it is not there at all."""
    with TemporaryDirectory(dir="/tmp") as root:  # one that others may pass
        folder = Path(root)
        file = folder / "given"
        file.write_text(SECRET)
        for mode, folder_mode, is_open in ((0o644, 0o755, True), (0o640, 0o755, False), (0o644, 0o700, False)):
            file.chmod(mode)
            folder.chmod(folder_mode)
            assert open_to_others(file) == is_open
        file.unlink()
        assert not open_to_others(file)
