"""`relay manifest check` prints what editors and CI jump from, and exits by what it found."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from relay.cli import run

GOOD = "test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/%s\n      unlisted_test_mode: skip\n"
ODD = GOOD + "      owner: me\n"
BAD = (GOOD % "test_a.py").replace("skip", "maybe")
BAD_LINE = (
    "4:27: `unlisted_test_mode` must be 'mandatory_success', 'xfail', 'xfail_strict' or 'skip', not 'maybe' [schema]"
)


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
        == "m/a.yaml:3:13: warning: the file is listed in b.yaml, line 3 already, which counts; this block is ignored "
        "[duplicate-path]\n"
    )
    assert err == "2 manifests: 0 errors, 1 warning\n"


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_json_is_a_list_of_findings_and_nothing_else(capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    write("a.yaml", BAD)
    assert run(["manifest", "check", "a.yaml", *option]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    message = finding.pop("message")
    assert finding == {"file": "a.yaml", "line": 4, "column": 27, "severity": "error", "rule": "schema"}
    assert BAD_LINE.endswith(f"{message} [schema]")


def test_github_annotations_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    write("a,b:100%.yaml", BAD.replace("maybe", "50%"))
    assert run(["manifest", "check", "a,b:100%.yaml", "--format", "github"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("::error file=a%2Cb%3A100%25.yaml,line=4,col=27,title=schema::`unlisted_test_mode` must be ")
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
    [("nowhere", "there is no file or folder nowhere"), ("empty", "empty holds no *.yaml file")],
)
def test_a_path_with_no_manifest_is_one_line_and_a_hint(
    capsys: pytest.CaptureFixture[str], argument: str, message: str
) -> None:
    Path("empty").mkdir()
    assert run(["manifest", "check", argument]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}\n")
    assert "Traceback" not in err


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"#" * 20_000_000, "1:1: larger than 2 MiB; split it into several manifests [unsafe-yaml]"),
        (
            BOMB.encode(),
            "the aliases of this file expand to more than 200000 values; write fewer of them [unsafe-yaml]",
        ),
        (b"a:\n\t- b\n", "2:1: a tab; YAML is indented with spaces only [yaml-syntax]"),
        (b"a: \xff\n", "1:4: not UTF-8 text; save the file as UTF-8 [unsafe-yaml]"),
        (GOOD.replace("TORCH_ROOT", "PYTORCH_ROOT").encode(), "'${PYTORCH_ROOT}' is no token; a path knows"),
        (b"test_suite_config: {files: []}\n", "`files` is empty, so this manifest says nothing [no-files]"),
    ],
    ids=["huge", "bomb", "tab", "bytes", "token", "no files"],
)
def test_bad_input_is_one_clear_line_and_exit_code_1(
    capsys: pytest.CaptureFixture[str], content: bytes, expected: str
) -> None:
    Path("a.yaml").write_bytes(content)
    assert run(["manifest", "check", "a.yaml"]) == 1
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert expected in out
    assert err == "1 manifest: 1 error, 0 warnings\n"


def test_a_doubled_key_names_both_lines(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", GOOD % "test_a.py" + "      unlisted_test_mode: xfail\n")
    assert run(["manifest", "check", "a.yaml"]) == 1
    line = "a.yaml:5:7: the key 'unlisted_test_mode' stands in line 4 already, in the same mapping; "
    assert capsys.readouterr().out == f"{line}the last one wins [duplicate-key]\n"


CITING = (
    GOOD % "test_a.py"
    + "      tests:\n        - names: [test_x]\n          mode: xfail\n          issue: '#12'\n"
    + "        - names: [test_y]\n          mode: skip\n          issue: https://github.com/Torch-Spyre/torch-spyre/issues/13\n"
)


def test_an_excuse_that_cites_a_closed_issue_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """With what `gh issue list --json url` prints; `#12` is meant of the one repository the list is of."""
    write("a.yaml", CITING)
    links = [f"https://github.com/torch-spyre/torch-spyre/issues/{number}" for number in (12, 13, 14)]
    write("closed.json", json.dumps([{"url": link} for link in links]))
    assert run(["manifest", "check", "a.yaml", "--closed-issues", "closed.json"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "a.yaml:8:18: warning: `xfail` cites #12, which is closed [closed-issue]"
    assert second.startswith(
        "a.yaml:11:18: warning: `skip` cites https://github.com/Torch-Spyre/torch-spyre/issues/13,"
    )
    write("closed.json", json.dumps([links[2], "other/repository#12"]))
    assert run(["manifest", "check", "a.yaml", "--closed-issues", "closed.json"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"number": 1}]', "[" * 100_000])
def test_a_list_of_closed_issues_that_is_none_is_one_sentence(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", CITING)
    write("closed.json", text)
    assert run(["manifest", "check", "a.yaml", "--closed-issues", "closed.json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: closed.json gives no closed issues: ")
    assert "gh issue list" in err


def test_a_folder_in_the_place_of_a_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m").mkdir()
    Path("m/b.yaml").mkdir()
    assert run(["manifest", "check", "m/b.yaml"]) == 1
    assert capsys.readouterr().err.startswith("error: m/b.yaml holds no *.yaml file\n")


def test_the_rules_are_listed_with_why_and_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "check", "--rules"]) == 0
    out = capsys.readouterr().out
    assert "misplaced-kwargs (warning)\n    `kwargs` beside `sample_inputs_func` is ignored" in out
    assert "    fix: Move `kwargs` inside `sample_inputs_func`.\n" in out
    assert "dead-name (warning, --upstream)\n" in out


def test_the_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "check", "--rules", "--json"]) == 0
    rules = json.loads(capsys.readouterr().out)
    assert {rule["id"] for rule in rules} >= {"dead-name", "schema", "copied-global"}
    assert all(rule["why"] and rule["how"] and rule["severity"] in {"error", "warning"} for rule in rules)


def test_upstream_sources_tell_names_that_are_dead(capsys: pytest.CaptureFixture[str]) -> None:
    write("up/test/test_a.py", "class TestA(TestCase):\n    def test_one(self): ...\n")
    write("a.yaml", GOOD % "test_a.py" + "      tests: [{names: [TestA::test_one, TestA::test_gone]}]\n")
    assert run(["manifest", "check", "a.yaml"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["manifest", "check", "a.yaml", "--upstream", "up"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("a.yaml:5:41: warning: test/test_a.py has no `test_gone`")
    assert line.endswith("[dead-name]")


def test_an_upstream_tree_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", GOOD % "test_a.py")
    assert run(["manifest", "check", "a.yaml", "--upstream", "nowhere"]) == 1
    assert capsys.readouterr().err.startswith("error: there is no upstream tree nowhere\n")


MENDABLE = "test_suite_config:\n  files:\n    - path: '${TORCH_ROOT}/test/test_a.py'  # ours\n"


def test_fix_mends_the_files_tells_what_and_reports_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    write("m/a.yaml", MENDABLE + "      owner: me\n")
    write("m/b.yaml", GOOD % "test_b.py")
    Path("m/a.yaml").chmod(0o640)
    assert run(["manifest", "check", "m", "--fix"]) == 0
    out, err = capsys.readouterr()
    assert [line.rpartition(" ")[2] for line in out.splitlines()] == ["[unknown-key]"]
    assert err.splitlines() == [
        "m/a.yaml: mended 1 quoted-path, 1 missing-unlisted-mode",
        "2 manifests: 0 errors, 1 warning",
    ]
    assert (
        Path("m/a.yaml").read_text().startswith("test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/test_a")
    )
    assert "# ours\n" in Path("m/a.yaml").read_text()
    assert Path("m/a.yaml").stat().st_mode & 0o777 == 0o640
    assert Path("m/b.yaml").read_text() == GOOD % "test_b.py"
    assert sorted(path.name for path in Path("m").iterdir()) == ["a.yaml", "b.yaml"]


def test_fix_a_second_time_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", MENDABLE)
    assert run(["manifest", "check", "a.yaml", "--fix"]) == 0
    before = (Path("a.yaml").read_text(), Path("a.yaml").stat().st_ino)
    capsys.readouterr()
    assert run(["manifest", "check", "a.yaml", "--fix"]) == 0
    assert (Path("a.yaml").read_text(), Path("a.yaml").stat().st_ino) == before
    assert capsys.readouterr().err == "1 manifest: 0 errors, 0 warnings\n"


def test_a_folder_that_is_no_upstream_tree_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", GOOD % "test_a.py")
    assert run(["manifest", "check", "a.yaml", "--upstream", ""]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: . is no upstream tree: it has no files in test/\n")


def test_without_a_path_the_folder_of_the_settings_is_checked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("mine/a.yaml", BAD)
    monkeypatch.setenv("RELAY_MANIFEST_DIR", "mine")
    assert run(["manifest", "check"]) == 1
    assert capsys.readouterr().out == f"mine/a.yaml:{BAD_LINE}\n"


def test_an_entry_that_has_expired_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    entry = "      tests:\n        - names: [test_x]\n          mode: skip\n          expires: 2020-01-31\n"
    write("a.yaml", GOOD % "test_a.py" + entry)
    assert run(["manifest", "check", "a.yaml"]) == 0
    assert "a.yaml:8:20: warning: `skip` of this entry expired on 2020-01-31" in capsys.readouterr().out
