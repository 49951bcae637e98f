"""`relay manifest diff` counts what a change does to tests, from files, folders and revisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay.cli import run
from tests.selector.upstream import Repository

BEFORE = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_things.py
      unlisted_test_mode: skip
      tests:
        - names: [test_a]
        - names: [test_b]
          tags: [x]
"""
AFTER = BEFORE.replace("[test_a]", "[test_c]").replace("[x]", "[x, y]")
IDS = [f"test/test_things.py::TestThingsACME::test_{word}" for word in ("a_acme", "b_acme", "c_acme_1", "c_acme_2")]
TEXT = """\
1 test removed from the run: mandatory_success (listed, m.yaml:6) -> skip (unlisted, m.yaml:3)
    test/test_things.py::TestThingsACME::test_a_acme
2 tests added to the run: skip (unlisted, m.yaml:3) -> mandatory_success (listed, m.yaml:6)
    test/test_things.py::TestThingsACME::test_c_acme_1
    test/test_things.py::TestThingsACME::test_c_acme_2
1 test with other tags: mandatory_success (listed, m.yaml:7) tags x -> mandatory_success (listed, m.yaml:7) tags x, y
    test/test_things.py::TestThingsACME::test_b_acme
"""
COUNTS = "1 removed, 2 added, 1 tags, 0 unchanged\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A checkout with `BEFORE` committed as `manifests/m.yaml` in `old`, and `AFTER` in the working tree."""
    monkeypatch.chdir(tmp_path)
    repository = Repository(tmp_path)
    repository.commit({"manifests/m.yaml": BEFORE, "manifests/.hidden/h.yaml": "{}", "ids.json": json.dumps(IDS)})
    repository.git("tag", "old")
    Path("manifests/m.yaml").write_text(AFTER, encoding="utf-8")
    return repository


@pytest.mark.parametrize("before", ["old:manifests", "old:manifests/m.yaml"])
@pytest.mark.parametrize("after", ["manifests", "manifests/m.yaml"])
def test_a_revision_is_compared_with_what_lies_there(
    capsys: pytest.CaptureFixture[str], before: str, after: str
) -> None:
    """A file or a folder on either side: names are the same in all of them. Exit code 0."""
    assert run(["manifest", "diff", before, after, "--ids", "ids.json", "--device", "acme"]) == 0
    assert capsys.readouterr() == (TEXT, COUNTS)


def test_a_revision_is_read_from_the_root_of_the_checkout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As git has it, wherever one stands."""
    monkeypatch.chdir("manifests")
    command = ["manifest", "diff", "old:manifests", "m.yaml", "--ids", "../ids.json", "--device", "acme"]
    assert run(command) == 0
    assert capsys.readouterr().out == TEXT


def test_exit_status_is_5_for_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    """And 0 for none, which is said."""
    options = ["--ids", "ids.json", "--device", "acme", "--exit-status"]
    assert run(["manifest", "diff", "old:manifests", "manifests", *options]) == 5
    capsys.readouterr()
    assert run(["manifest", "diff", "manifests", "manifests", *options]) == 0
    assert capsys.readouterr() == ("", "no difference for 4 tests\n")


def test_long_lists_are_cut_and_json_has_them_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """The text is for reading, the data for programs."""
    many = [f"test/test_things.py::TestThingsACME::test_a_acme_{number}" for number in range(7)]
    Path("ids.json").write_text(json.dumps(many), encoding="utf-8")
    command = ["manifest", "diff", "old:manifests", "manifests", "--ids", "ids.json", "--device", "acme"]
    assert run(command) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [f"    {many[4]}", "    and 2 more"]
    assert run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (change,) = found.pop("changes")
    assert found == {"unchanged": 0, "removed": 7, "added": 0, "mode": 0, "tolerance": 0, "tags": 0}
    assert (change["effect"], change["tests"], change["ids"]) == ("removed", 7, many)
    assert (change["before"]["provenance"], change["after"]["rule"]) == ("m.yaml:6", "unlisted")


def test_the_strict_profile_sees_what_compat_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    """A class that is renamed in a name."""
    Path("manifests/m.yaml").write_text(BEFORE.replace("[test_a]", "[TestElse::test_a]"), encoding="utf-8")
    command = ["manifest", "diff", "old:manifests", "manifests", "--ids", "ids.json", "--device", "acme"]
    assert run([*command, "--exit-status"]) == 0
    assert run([*command, "--exit-status", "--profile", "strict"]) == 5
    assert "1 test removed from the run" in capsys.readouterr().out


def test_the_strict_profile_does_not_compare_what_it_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown key is ignored in the other."""
    Path("manifests/m.yaml").write_text(BEFORE.replace("tags: [x]", "tag: [x]"), encoding="utf-8")
    command = ["manifest", "diff", "old:manifests", "manifests", "--ids", "ids.json", "--device", "acme"]
    assert run(command) == 0
    assert run([*command, "--profile", "strict"]) == 1
    assert "the manifests cannot be used: m.yaml:8:11: unknown key 'tag'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere", "error: there is no file or folder nowhere"),
        ("no-such:manifests", "error: git ls-tree failed in .: "),
        ("old:nowhere", "error: old:nowhere holds no *.yaml file"),
        ("bad.yaml", "error: the manifests cannot be used: bad.yaml:1:1: "),
    ],
)
def test_a_source_that_cannot_be_read_is_one_sentence_and_a_hint(
    capsys: pytest.CaptureFixture[str], source: str, message: str
) -> None:
    """Exit code 1."""
    Path("bad.yaml").write_text("{}", encoding="utf-8")
    assert run(["manifest", "diff", source, "manifests", "--ids", "ids.json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert "\nhint: " in err


def test_a_committed_manifest_that_is_no_text_is_refused(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not left out, which would be a difference that nobody made."""
    repository.commit({"manifests/binary.yaml": b"\xff\xfe"})
    assert run(["manifest", "diff", "main:manifests", "manifests/m.yaml", "--ids", "ids.json"]) == 1
    assert "binary.yaml:1:1: not UTF-8 text" in capsys.readouterr().err
