"""`relay manifest resolve` prints what manifests say about each collected test, and exits by whether they load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay.cli import run

BLOCK = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: %s
      tests:
        - names: [%s]
          mode: %s
          tags: [damp]
"""
ONE = "test/test_a.py::TestASPYRE::test_one_spyre"
TWO = "test/test_a.py::TestASPYRE::test_two_spyre_int8"


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ids.json").write_text(json.dumps([ONE, TWO]), encoding="utf-8")
    write("m/a.yaml", BLOCK % ("skip", "TestA::test_one", "xfail"))
    write("b.yaml", BLOCK % ("xfail", "test_two, test_one", "xfail_strict"))


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def resolved(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, object]]:
    assert run(["manifest", "resolve", *arguments, "--ids", "ids.json", "--json"]) == 0
    found: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_json_is_an_object_of_rows_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert resolved(capsys, "m/a.yaml") == {
        ONE: {
            "mode": "xfail",
            "reason": "listed",
            "entry": 0,
            "tags": ["damp"],
            "provenance": "m/a.yaml:6",
            "tolerance": None,
            "isolate": False,
            "timeout_s": None,
            "remarks": {"reason": "", "issue": "", "owner": "", "expires": None},
        },
        TWO: {
            "mode": "skip",
            "reason": "unlisted",
            "entry": None,
            "tags": [],
            "provenance": "m/a.yaml:3",
            "tolerance": None,
            "isolate": False,
            "timeout_s": None,
            "remarks": {"reason": "", "issue": "", "owner": "", "expires": None},
        },
    }


def test_off_a_terminal_rows_are_lines_and_the_count_stands_beside(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "resolve", "m", "--ids", "ids.json"]) == 0
    out, err = capsys.readouterr()
    assert out == f"{ONE}\txfail\tlisted\tm/a.yaml:6\tdamp\n{TWO}\tskip\tunlisted\tm/a.yaml:3\t\n"
    assert err.splitlines()[-1].startswith("2 tests: 1 skip, 1 xfail; table ")


def test_several_files_are_merged_with_a_word_about_conflicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "resolve", "m/a.yaml", "b.yaml", "--ids", "ids.json"]) == 0
    out, err = capsys.readouterr()
    assert [line.split("\t")[1:4] for line in out.splitlines()] == [
        ["xfail", "listed", "m/a.yaml:6"],
        ["xfail_strict", "listed", "b.yaml:6"],
    ]
    assert "warning: b.yaml:3:7: unlisted tests of ${TORCH_ROOT}/test/test_a.py are xfail here and skip at" in err


@pytest.mark.parametrize("arguments", [["m", "b.yaml"], ["m/a.yaml", "b.yaml", "--no-merge"]])
def test_a_folder_or_no_merge_takes_each_manifest_by_itself(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    found = resolved(capsys, *arguments)
    assert [row["provenance"] for row in found.values()] == ["b.yaml:6", "b.yaml:6"]


def test_the_profile_is_asked_for_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    write("c.yaml", BLOCK % ("skip", "TestOther::test_one", "xfail"))
    assert [resolved(capsys, "c.yaml", "--profile", name)[ONE]["reason"] for name in ("compat", "strict")] == [
        "listed",
        "unlisted",
    ]


def test_expiry_is_enforced_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    write("c.yaml", BLOCK % ("skip", "test_one", "skip") + "          expires: 2020-01-31\n")
    strict = ["c.yaml", "--profile", "strict"]
    row = resolved(capsys, *strict)[ONE]
    assert (row["mode"], row["remarks"]) == (
        "skip",
        {"reason": "", "issue": "", "owner": "", "expires": "2020-01-31"},
    )
    assert resolved(capsys, *strict, "--enforce-expiry")[ONE]["mode"] == "mandatory_success"


def test_a_plain_id_is_a_variant_of_the_longest_listed_name(capsys: pytest.CaptureFixture[str]) -> None:
    ids = [f"test/test_a.py::TestASPYRE::{name}" for name in ("test_op_mul_spyre_int8", "test_op_nn_relu_spyre_int8")]
    write("ids.json", json.dumps(ids))
    write("c.yaml", BLOCK % ("skip", "test_op", "xfail") + "  global: {supported_ops: [mul, add]}\n")
    assert run(["manifest", "resolve", "c.yaml", "--ids", "ids.json", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [row["reason"] for row in json.loads(out).values()] == ["listed", "listed"]
    assert err.startswith("base name, operator and dtype of 2 tests were read out of the id; ")


def test_labels_and_platforms_are_compared_when_given(capsys: pytest.CaptureFixture[str]) -> None:
    write("c.yaml", BLOCK % ("skip", "test_one", "xfail") + "          labels: [unit]\n          platforms: s390x\n")
    assert resolved(capsys, "c.yaml", "--test-type", "trunk")[ONE]["reason"] == "label_mismatch"
    assert resolved(capsys, "c.yaml", "--platform", "x86_64")[ONE]["reason"] == "unlisted"


def test_a_manifest_that_does_not_load_is_findings_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    write("bad.yaml", BLOCK % ("maybe", "A::B::c", "xfail"))
    assert run(["manifest", "resolve", "bad.yaml", "--ids", "ids.json", "--json"]) == 1
    out, err = capsys.readouterr()
    assert [(finding["line"], finding["column"]) for finding in json.loads(out)] == [(4, 27), (6, 19)]
    assert err.startswith("bad.yaml:4:27: `unlisted_test_mode` must be ")
    assert run(["manifest", "resolve", "bad.yaml", "--ids", "ids.json"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 2)


def test_errors_of_merged_manifests_have_the_places_of_the_manifests(capsys: pytest.CaptureFixture[str]) -> None:
    write("bad.yaml", BLOCK % ("skip", "test_one", "never"))
    assert run(["manifest", "resolve", "b.yaml", "bad.yaml", "--ids", "ids.json"]) == 1
    assert capsys.readouterr().err.startswith("bad.yaml:7:17: `mode` must be ")


def test_the_strict_profile_refuses_unknown_keys(capsys: pytest.CaptureFixture[str]) -> None:
    write("c.yaml", BLOCK % ("skip", "test_one", "xfail") + "          tag: [x]\n")
    assert run(["manifest", "resolve", "c.yaml", "--ids", "ids.json", "--profile", "strict"]) == 1
    assert "c.yaml:9:11: unknown key 'tag'" in capsys.readouterr().err
    assert resolved(capsys, "c.yaml")[ONE]["mode"] == "xfail"


@pytest.mark.parametrize(
    ("content", "sentence"), [("{", "not JSON"), ("3", "JSON list of tests"), ('["x"]', "test 1 is not")]
)
def test_a_bad_list_of_tests_is_one_sentence(capsys: pytest.CaptureFixture[str], content: str, sentence: str) -> None:
    write("ids.json", content)
    assert run(["manifest", "resolve", "b.yaml", "--ids", "ids.json"]) == 1
    err = capsys.readouterr().err
    assert sentence in err
    assert "Traceback" not in err
