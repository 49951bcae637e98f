"""`relay manifest check` prints what editors and CI jump from, and exits by what it found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay.cli import run

GOOD = "test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/%s\n      unlisted_test_mode: skip\n"
ODD = GOOD + "      owner: me\n"
BAD = (GOOD % "test_a.py").replace("skip", "maybe")
BAD_LINE = "4:27: `unlisted_test_mode` must be 'mandatory_success', 'xfail', 'xfail_strict' or 'skip', not 'maybe'"


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_good_manifests_print_nothing_but_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    write("m/a.yaml", GOOD % "test_a.py")
    write("m/deep/b.yaml", GOOD % "test_b.py")
    assert run(["manifest", "check", "m"]) == 0
    assert capsys.readouterr() == ("", "2 manifests: 0 errors, 0 warnings\n")


def test_an_error_is_a_line_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    write("m/a.yaml", BAD)
    assert run(["manifest", "check", "m"]) == 1
    assert capsys.readouterr() == (f"m/a.yaml:{BAD_LINE}\n", "1 manifest: 1 error, 0 warnings\n")


def test_warnings_alone_are_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", ODD % "test_a.py")
    assert run(["manifest", "check", "a.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("a.yaml:5:7: warning: unknown key 'owner', ignored; known here: path, ")
    assert err == "1 manifest: 0 errors, 1 warning\n"


def test_files_named_twice_count_once_and_clashes_between_paths_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    write("m/a.yaml", GOOD % "test_a.py")
    write("b.yaml", GOOD % "test_a.py")
    assert run(["manifest", "check", "m", "m/a.yaml", "b.yaml"]) == 0
    out, err = capsys.readouterr()
    assert (
        out
        == "m/a.yaml:3:13: warning: test/test_a.py is listed at b.yaml:3 already, which counts; this block is ignored\n"
    )
    assert err == "2 manifests: 0 errors, 1 warning\n"


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_json_is_a_list_of_findings_and_nothing_else(capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    write("a.yaml", BAD)
    assert run(["manifest", "check", "a.yaml", *option]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    message = finding.pop("message")
    assert finding == {"file": "a.yaml", "line": 4, "column": 27, "severity": "error", "rule": "schema"}
    assert BAD_LINE.endswith(message)


def test_github_annotations_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    write("a,b:100%.yaml", BAD.replace("maybe", "50%"))
    assert run(["manifest", "check", "a,b:100%.yaml", "--format", "github"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("::error file=a%2Cb%3A100%25.yaml,line=4,col=27::`unlisted_test_mode` must be ")
    assert out.endswith("not '50%25'\n")


def test_a_name_can_not_write_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    tests = '      tests:\n        - names: ["\\e[31m", "\\e[31m"]\n        - names: ["a\\nb", "a\\nb"]\n'
    write("a.yaml", GOOD % "test_a.py" + tests)
    run(["manifest", "check", "a.yaml"])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert all(line.startswith("a.yaml:") for line in out.splitlines())


@pytest.mark.parametrize(
    ("argument", "message"),
    [("nowhere", "there is no file or folder nowhere"), ("empty", "the folder empty holds no *.yaml file")],
)
def test_a_path_with_no_manifest_is_a_usage_error_with_a_hint(
    capsys: pytest.CaptureFixture[str], argument: str, message: str
) -> None:
    Path("empty").mkdir()
    assert run(["manifest", "check", argument]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "hint: `relay manifest check --help` shows how it is used" in err


def test_without_a_path_the_folder_of_the_settings_is_checked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("mine/a.yaml", BAD)
    monkeypatch.setenv("RELAY_MANIFEST_DIR", "mine")
    assert run(["manifest", "check"]) == 1
    assert capsys.readouterr().out == f"mine/a.yaml:{BAD_LINE}\n"
