"""`relay manifest schema` prints the schema and nothing else."""

from __future__ import annotations

import json

import pytest

from relay.cli import run
from selector.manifests.json_schema import json_schema


def test_the_schema_is_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "schema"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == json_schema()
    assert err == ""
