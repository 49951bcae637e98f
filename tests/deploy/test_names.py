"""What deploy/ names exists: settings and files."""

from __future__ import annotations

import re

import pytest

from tests.deploy.deployed import DEPLOY, ROOT, SETTINGS, WORKFLOW_VARIABLES, named_variables, text_files

FILES = [str(path.relative_to(DEPLOY)) for path in text_files()]


@pytest.mark.parametrize("name", FILES)
def test_every_variable_is_a_setting(name: str) -> None:
    """A misspelt one would be ignored without a word."""
    unknown = named_variables((DEPLOY / name).read_text()) - SETTINGS - WORKFLOW_VARIABLES
    assert unknown == set()


def test_there_is_something_to_look_at() -> None:
    assert {"Dockerfile", "compose.yaml", "make_secrets.py"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_path_of_the_repository_exists(name: str) -> None:
    text = (DEPLOY / name).read_text()
    named = re.findall(r"\bdeploy/[\w./-]+\w", text)
    # What `make_secrets.py` makes is in no checkout.
    assert [path for path in named if not path.startswith("deploy/secrets") and not (ROOT / path).exists()] == []
