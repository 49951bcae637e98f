"""`relay manifest explain` prints both readings side by side and what a maintainer has to know; `--json` has it all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay.cli import run

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_things.py
      unlisted_test_mode: skip
      tests:
        - names: [TestOther::test_add]
          mode: xfail
          tags: [slow]
        - names: [TestThings::test_add]
          reason: not there yet
          expires: 2030-01-31
  global:
    supported_dtypes: [{name: float32, precision: {atol: 0.01}}]
"""
ID = "test/test_things.py::TestThingsACME::test_add_acme_float32"
TEST = {
    "id": ID,
    "file": "test/test_things.py",
    "class": "TestThings",
    "base": "test_add",
    "method": "test_add_acme_float32",
    "dtype": "float32",
}


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the manifest `m.yaml` and the collected test in `ids.json`."""
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(MANIFEST, encoding="utf-8")
    Path("ids.json").write_text(json.dumps({"device": "acme", "universe": [TEST]}), encoding="utf-8")


def test_both_profiles_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """The whole text, off a terminal; the device's word comes from the file of ids."""
    assert run(["manifest", "explain", ID, "m.yaml", "--ids", "ids.json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert (
        out
        == f"""\
{ID}
profile\tcompat\tstrict
mode\txfail\tmandatory_success
rule\tlisted\tlisted
decided at\tm.yaml:6\tm.yaml:9
entry\tTestOther::test_add (m.yaml:6)\tTestThings::test_add (m.yaml:9)
because\tthe first of 2 whose dtypes hold float32\tthe only entry that lists it, whatever its dtypes
dtype\tfloat32\tfloat32
tags\tslow\t-
tolerance\tatol 0.01\tatol 0.01
reason\t-\tnot there yet
expires\t-\t2030-01-31

candidates, compat, in order of precedence:
m.yaml:6\tTestOther::test_add\txfail\tfloat32\tchosen
m.yaml:9\tTestThings::test_add\tmandatory_success\tfloat32\t-

candidates, strict, in order of precedence:
m.yaml:6\tTestOther::test_add\txfail\tfloat32\tleft out: it is for another class than TestThings
m.yaml:9\tTestThings::test_add\tmandatory_success\tfloat32\tchosen

checks, compat, the first hit decides:
no\tdtype_unsupported\tdtype float32, supported float32
hit\tlisted\tmode xfail

checks, strict, the first hit decides:
no\tdtype_unsupported\tdtype float32, supported float32
hit\tlisted\tmode mandatory_success

good to know:
- `TestOther::test_add` (m.yaml:6) decides about `TestThings::test_add`: the class half of a name is not compared, so \
an entry takes `test_add` of every class in the file.
- `TestThings::test_add` (m.yaml:9, mandatory_success) is hidden here by m.yaml:6 (xfail): one entry decides for each \
variant, and the mode, tags and labels of the others do not count. Only different `dtypes.include` tell two entries \
for one method apart.

what was meant:
Probably the name was for its own class only: `mandatory_success` (listed, m.yaml:9) then, instead of `xfail` \
(listed, m.yaml:6).
"""
    )


def test_a_bare_id_is_read_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --ids, on stderr."""
    assert run(["manifest", "explain", ID, "m.yaml", "--device", "acme"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{ID}\nprofile\tcompat\tstrict\nmode\txfail\tmandatory_success\n")
    assert err == (
        "read out of the id: base name test_add, operator none, dtype float32; give --ids with the collected tests to "
        "be certain\n"
    )


def test_the_upstream_source_tells_the_base_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Here the listed name is not what the id is a variant of."""
    Path("up/test").mkdir(parents=True)
    Path("up/test/test_things.py").write_text("class TestThings:\n    def test_add_acme(self): ...\n", encoding="utf-8")
    assert run(["manifest", "explain", ID, "m.yaml", "--device", "acme", "--upstream", "up"]) == 0
    out, err = capsys.readouterr()
    assert "\nrule\tunlisted\tunlisted\n" in out
    assert err.startswith("read out of the id: base name test_add_acme, ")


def test_a_test_without_entry_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Where both readings agree, the second refers to the first."""
    assert run(["manifest", "explain", "test/test_things.py::TestThings::test_new", "m.yaml"]) == 0
    out = capsys.readouterr().out
    assert "candidates, compat, in order of precedence:\nno entry lists it\n" in out
    assert "candidates, strict, in order of precedence:\nthe same as in compat\n" in out
    assert "what was meant" not in out


def test_json_has_both_traces_and_the_traps(capsys: pytest.CaptureFixture[str]) -> None:
    """With the places a program needs."""
    assert run(["manifest", "explain", ID, "m.yaml", "--ids", "ids.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["test", "guessed", "compat", "strict", "traps", "meant"]
    assert found["guessed"] is False
    assert (found["compat"]["chosen"], found["strict"]["chosen"]) == (0, 1)
    assert found["compat"]["candidates"][0]["dtypes"] == ["float32"]
    assert found["strict"]["resolution"]["expires"] == "2030-01-31"
    assert found["compat"]["checks"][-1] == {"name": "listed", "value": "mode xfail", "hit": True}
    assert [trap["kind"] for trap in found["traps"]] == ["class_ignored", "hidden_entry"]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            [ID.replace("32", "23"), "m.yaml", "--ids", "ids.json"],
            f"no collected test has the id {ID.replace('32', '23')}",
            f"did you mean {ID}?",
        ),
        (["test_add", "m.yaml"], "test_add is no test id; write `file::Class::method` or `file::function`", ""),
        (
            [ID, "m.yaml", "--ids", "nowhere.json"],
            "the collected tests can not be read from nowhere.json: No such file or directory",
            '--ids takes a JSON list of node ids, or {"universe": [{"id", "file", "class", "base", "method", ...}]}',
        ),
        (
            [ID, "m.yaml", "--ids", "m.yaml"],
            "the collected tests can not be read from m.yaml: not JSON: Expecting value: line 1 column 1 (char 0)",
            '--ids takes a JSON list of node ids, or {"universe": [{"id", "file", "class", "base", "method", ...}]}',
        ),
    ],
)
def test_what_does_not_work_is_one_sentence_and_a_next_step(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, hint: str
) -> None:
    """Exit code 1."""
    assert run(["manifest", "explain", *arguments]) == 1
    assert capsys.readouterr() == ("", f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""))


def test_a_name_can_not_write_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Manifests come from pull requests."""
    Path("m.yaml").write_text(MANIFEST.replace("[slow]", '["\\e[31mslow"]'), encoding="utf-8")
    assert run(["manifest", "explain", ID, "m.yaml", "--ids", "ids.json"]) == 0
    assert "\x1b" not in capsys.readouterr().out
