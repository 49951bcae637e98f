"""`relay manifest model-ops` runs the models of manifests and writes down what of torch they use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay

MANIFEST = """\
test_suite_config:
  files: []
  models:
    # A layer of torch, as small as a model can be.
    - name: layer
      import_path: torch.nn:Linear
      arguments: {in_features: 2, out_features: 3}
      inputs: [{shape: [1, 2], kind: normal}]
      output: ""
      compare: [logits]
      dtypes: [float16]
"""
GONE = MANIFEST.replace("torch.nn:Linear", "no_such_package:make")
LINE = ("manifest", "model-ops", "m.yaml")


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_a_model_uses_is_written_beside_it(relay: Relay) -> None:
    Path("m.yaml").write_text(MANIFEST, encoding="utf-8")
    ended = relay(*LINE, "--write", "--json")
    assert ended.code == 0, ended.err
    said = json.loads(ended.out)
    uses = said["models"]["layer"]
    assert {"aten::linear", "aten::addmm"} <= set(uses["operators"])
    assert "torch.nn.modules.linear.Linear" in uses["names"]
    assert uses["recorded_with"].startswith("torch ")
    assert said["written"] is True
    assert "+          - aten::addmm" in said["diff"].splitlines()
    written = Path("m.yaml").read_text(encoding="utf-8")
    assert written.startswith(MANIFEST)
    assert ended.err.splitlines()[-2:] == [
        f"layer: {len(uses['operators'])} operators, {len(uses['names'])} names",
        "1 manifest written",
    ]
    assert relay("manifest", "check", "m.yaml").err == "1 manifest: 0 errors, 0 warnings\n"


def test_a_model_that_does_not_run_is_told_with_what_to_do(relay: Relay) -> None:
    Path("m.yaml").write_text(GONE, encoding="utf-8")
    ended = relay(*LINE)
    assert ended.code == 1
    assert "error: the model layer did not run on the CPU: " in ended.err
    assert "no_such_package" in ended.err
    assert Path("m.yaml").read_text(encoding="utf-8") == GONE


def test_a_model_that_is_not_named_is_told_with_those_that_are(relay: Relay) -> None:
    Path("m.yaml").write_text(MANIFEST, encoding="utf-8")
    ended = relay(*LINE, "--model", "layers")
    assert ended.code == 1
    assert ended.err.splitlines()[:2] == [
        "error: the manifests name no model layers",
        "hint: did you mean layer?",
    ]
