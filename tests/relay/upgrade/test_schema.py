"""The schema of a report that programs read: it stands in a file, so that a change of it is seen."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

import relay.upgrade
from relay.upgrade.document import UpgradeDocument
from relay.upgrade.writing import report_json
from selector.upgrade.types import UpgradeReport

_FILE = Path(relay.upgrade.__path__[0]) / "report.schema.json"


def test_the_file_is_the_schema_of_what_is_read_and_written() -> None:
    """Where it is not: keys may be added, with a default; anything else is a new version of the form."""
    told = json.loads(_FILE.read_text(encoding="utf-8"))
    assert told.pop("$schema") == Draft202012Validator.META_SCHEMA["$id"]
    assert told == UpgradeDocument.model_json_schema()


def test_a_report_keeps_to_it(report: UpgradeReport) -> None:
    validator = Draft202012Validator(json.loads(_FILE.read_text(encoding="utf-8")))
    document = json.loads(report_json(report))
    assert [error.message for error in validator.iter_errors(document)] == []
    document["findings"][0]["duty"] = "later"
    assert not validator.is_valid(document)
