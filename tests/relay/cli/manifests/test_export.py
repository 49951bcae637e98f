"""`relay manifest export` writes a Python module, and to stderr what that module can not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
      tests:
        - names: [TestA::test_gone]
          mode: skip
        - names: [TestA::test_bad]
          mode: xfail
"""


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(MANIFEST, encoding="utf-8")
    ids = [f"test/test_a.py::TestASPYRE::test_{name}_spyre_float32" for name in ("gone", "bad", "good")]
    Path("ids.json").write_text(json.dumps(ids), encoding="utf-8")


def test_one_call_on_stdout_and_what_it_lacks_on_stderr(relay: Relay) -> None:
    ended = relay("manifest", "export", "m.yaml", "--set-test-configs", "--ids", "ids.json")
    assert ended.code == 0
    assert ended.out.count("PrivateUse1TestBase.set_test_configs(") == 1
    assert ended.out.startswith("# Made by `relay manifest export` from 1 manifest and 3 tests, table ")
    assert "        'TestA': [\n            'test_gone',\n        ],\n" in ended.out
    assert ended.err == "1 are expected to fail, which only the relay's runner knows\n"


def test_it_can_go_to_a_file_and_be_json(relay: Relay) -> None:
    line = ("manifest", "export", "m.yaml", "--set-test-configs", "--ids", "ids.json")
    assert relay(*line, "--output", "configs.py").out == ""
    compile(Path("configs.py").read_text(encoding="utf-8"), "configs.py", "exec")
    value = relay(*line, "--json").json
    assert isinstance(value, dict)
    assert value["python"] == Path("configs.py").read_text(encoding="utf-8")


def test_the_form_has_to_be_named(relay: Relay) -> None:
    ended = relay("manifest", "export", "m.yaml", "--ids", "ids.json")
    assert ended.code == 2
    assert "--set-test-configs is the one there is" in ended.err
