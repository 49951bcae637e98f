"""`relay manifest migrate` goes to sources and back without a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relay.cli.conftest import Relay

TEXT = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_%s.py
      unlisted_test_mode: xfail
  global:
    supported_dtypes:
      - name: float32
"""


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m/deep").mkdir(parents=True)
    for name in ("a", "b", "deep/c"):
        Path(f"m/{name}.yaml").write_text(TEXT % name[-1], encoding="utf-8")


def test_there_and_back_again(relay: Relay) -> None:
    there = relay("manifest", "migrate", "m", "--output", "src", "--device", "spyre")
    assert (there.code, there.out) == (0, "")
    assert there.err.startswith("3 manifests, 1 shared section: 21 lines are now 20; compiled again they resolve alike")
    assert Path("src/x-defaults/global-1.yaml").read_text() == "supported_dtypes:\n  - name: float32\n"
    back = relay("manifest", "migrate", "src", "--compile", "--output", "new")
    assert back.out.splitlines() == ["a.yaml", "b.yaml", "deep/c.yaml"]
    for name in ("a", "b", "deep/c"):
        assert Path(f"new/{name}.yaml").read_bytes() == Path(f"m/{name}.yaml").read_bytes()


def test_check_finds_what_was_edited_in_the_wrong_place(relay: Relay) -> None:
    relay("manifest", "migrate", "m", "--output", "src")
    line = ("manifest", "migrate", "src", "--compile", "--check", "--output", "m")
    assert relay(*line).code == 0
    Path("m/a.yaml").write_text(TEXT % "z", encoding="utf-8")
    Path("m/extra.yaml").write_text(TEXT % "y", encoding="utf-8")
    ended = relay(*line)
    assert (ended.code, ended.out) == (1, "a.yaml\n")
    assert ended.err == "extra.yaml has no source; remove it, or move it to the sources\n3 manifests: 1 out of date\n"
    assert Path("m/a.yaml").read_text(encoding="utf-8") == TEXT % "z"
    assert relay(*line[:4], "--output", "m", "--json").json == {
        "manifests": 3,
        "changed": ["a.yaml"],
        "without_source": ["extra.yaml"],
        "written": True,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("m", "--output", "m"), 1, "m is not empty"),
        (("m", "--output", "new", "--check"), 2, "--check goes with --compile"),
        (("nowhere", "--output", "new"), 1, "there is no file or folder nowhere"),
        (("odd", "--output", "new", "--compile"), 1, "a.yaml: there are no defaults 'gone'; known: none"),
        (("bad", "--output", "new"), 1, "the manifests"),
    ],
    ids=str,
)
def test_what_can_not_be_done_is_one_sentence(
    relay: Relay, arguments: tuple[str, ...], code: int, message: str
) -> None:
    for folder, section in (("odd", "x-defaults: gone"), ("bad", "supported_dtypes: 3")):
        Path(folder).mkdir()
        Path(folder, "a.yaml").write_text(
            TEXT.partition("    supported")[0] % "a" + f"    {section}\n", encoding="utf-8"
        )
    ended = relay("manifest", "migrate", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert not Path("new").exists()
