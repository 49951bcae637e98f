"""The check of command lines can fail: what the other tests rest on."""

from __future__ import annotations

import pytest
import typer

from tests.deploy.deployed import check_command, named_variables


@pytest.mark.parametrize(
    "line", ["serve --web-only --host 0.0.0.0", "db upgrade", "background", "worker", "run cancel 7 --yes"]
)
def test_a_real_command_passes(line: str) -> None:
    check_command(line.split())


@pytest.mark.parametrize("line", ["serve --webonly", "db upgrade now", "run view", "run watch --interval never"])
def test_a_wrong_option_or_argument_fails(line: str) -> None:
    with pytest.raises(typer.TyperException):
        check_command(line.split())


@pytest.mark.parametrize("line", ["", "surve", "--version"])
def test_no_command_fails(line: str) -> None:
    with pytest.raises(AssertionError):
        check_command(line.split())


def test_variables_are_found_wherever_they_stand() -> None:
    text = "RELAY_URL=x ${RELAY_DEVICE:-spyre} `RELAY_LLM_*` MY_RELAY_THING %RELAY_X%"
    assert named_variables(text) == {"RELAY_URL", "RELAY_DEVICE", "RELAY_X"}
