"""`relay upgrade` on two small trees: what is compared, what is written where, and what a model may add."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from relay.cli.output import Output
from relay.cli.upgrade_trees import NothingToCompare, NoTree, Sides, origin_of, web_address
from relay.upgrade.reading import read_report
from selector.upgrade.types import Duty, Origin, OutcomeKind, TestChange
from tests.relay.cli.conftest import Relay
from tests.selector.triage.model_server import ModelServer, Says
from tests.selector.upstream import Repository

_FILE = "test/test_roll.py"
_TEST = f"{_FILE}::TestRoll::test_roll"
_MANIFEST = """\
test_suite_config:
  files:
    - path: "${TORCH_ROOT}/test/test_roll.py"
      unlisted_test_mode: skip
      tests:
        - names:
            - "TestRoll::test_roll"
          mode: mandatory_success
"""


def _source(value: int, more: str = "") -> str:
    return (
        "from torch.testing._internal.common_utils import TestCase\n\n\n"
        f"class TestRoll(TestCase):\n    def test_roll(self):\n        assert roll() == {value}\n\n"
        f"    def test_same(self):\n        assert True\n{more}"
    )


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Tags `old` and `new`, the folder beside it holds the manifests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RELAY_MANIFEST_DIR", str(tmp_path / "manifests"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "roll.yaml").write_text(_MANIFEST)
    (tmp_path / "clone").mkdir()
    repository = Repository(tmp_path / "clone")
    repository.commit({_FILE: _source(1), "torch/__init__.py": ""})
    repository.git("tag", "old")
    repository.commit({_FILE: _source(2, "\n    def test_more(self):\n        assert True\n")})
    repository.git("tag", "new")
    return repository


_ASKED = ("upgrade", "--repo", "clone", "--from", "old", "--to", "new")


def test_the_report_says_what_must_be_assessed_and_links_to_its_lines(relay: Relay, clone: Repository) -> None:
    clone.git("remote", "add", "origin", "git@github.com:acme/pytorch.git")
    report = read_report(relay(*_ASKED, "--json", "-q").out)
    (must,) = [it for it in report.findings if it.duty is Duty.MUST]
    assert (str(must.changed.test), must.changed.change) == (_TEST, TestChange.BODY)
    assert must.governed[0].provenance.startswith("roll.yaml:")
    assert report.difference.count(TestChange.ADDED) == 1
    assert report.origin.repository == "https://github.com/acme/pytorch"
    assert [report.origin.base_commit, report.origin.head_commit] == [
        *(clone.git("rev-parse", "old"), clone.git("rev-parse", "new")),
    ]


def test_every_form_is_written_by_the_name_of_its_file(relay: Relay, clone: Repository) -> None:
    names = ("report.html", "issue.md", "report.json")
    ended = relay(*_ASKED, *(word for name in names for word in ("--out", name)))
    assert ended.code == 0
    begins = [(clone.path.parent / name).read_text().lstrip()[:12].lower() for name in names]
    assert begins == ["<!doctype ht", "## `upgrade ", '{"format":"o']
    assert _TEST in (clone.path.parent / "issue.md").read_text()
    assert _TEST not in ended.err


def test_results_on_both_releases_tell_what_asks_for_something_else(relay: Relay, clone: Repository) -> None:
    for name, failed in (("old.xml", ""), ("new.xml", '<failure message="boom"/>')):
        cases = "".join(
            f'<testcase classname="test.test_roll.TestRoll" name="{test}">{failed}</testcase>'
            for test in ("test_roll", "test_same")
        )
        (clone.path.parent / name).write_text(f"<testsuite>{cases}</testsuite>")
    report = read_report(relay(*_ASKED, "--results", "old.xml", "new.xml", "--json", "-q").out)
    assert report.outcomes is not None
    assert {it.test.name: (it.kind, it.detail) for it in report.outcomes.outcomes} == {
        "test_same": (OutcomeKind.BROKEN, "boom"),
        "test_roll": (OutcomeKind.MEANING, "boom"),
    }


def test_a_model_s_paragraph_is_marked_as_such(
    relay: Relay, clone: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else is other than without it."""
    model = ModelServer(lambda _: Says(json.dumps({"summary": "Rolling changed."})))
    without = read_report(relay(*_ASKED, "--json", "-q").out)
    with model.serving() as address:
        monkeypatch.setenv("RELAY_LLM_BASE_URL", address)
        monkeypatch.setenv("RELAY_LLM_MODEL", "a-model")
        described = read_report(relay(*_ASKED, "--summaries", "--json", "-q").out)
    assert [(it.area, it.text, it.model) for it in described.summaries] == [(_FILE, "Rolling changed.", "a-model")]
    assert (described.findings, described.funnel) == (without.findings, without.funnel)


def test_a_second_comparison_reads_what_the_first_has_kept(relay: Relay, clone: Repository) -> None:
    first = relay(*_ASKED, "--json", "-q").json
    assert (clone.path.parent / "cache" / "oot-relay" / "catalog").is_file()
    second = relay(*_ASKED, "--json", "-q").json
    assert {**first, "seconds": 0} == {**second, "seconds": 0}  # type: ignore[dict-item]  # the report is an object


@pytest.fixture
def sides(clone: Repository) -> Iterator[Sides]:
    """Trees of the clone and of the folder it is in."""
    with ExitStack() as stack:
        yield Sides(clone.path, stack, Output())


def test_what_is_there_is_meant_before_a_revision_of_that_name(sides: Sides, clone: Repository) -> None:
    (clone.path.parent / "old" / "test").mkdir(parents=True)
    (clone.path.parent / "old" / "test" / "test_a.py").write_text("")
    before, after = sides.both("old", "new")
    assert (before.commit, after.commit) == ("", clone.git("rev-parse", "new"))


def _wheel(folder: Path, name: str, text: str, version: str = "") -> str:
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("torch/__init__.py", text)
        archive.writestr("torch/version.py", version)
    return str(folder / name)


def test_wheels_are_files_or_folders(sides: Sides, tmp_path: Path) -> None:
    file = _wheel(tmp_path, "torch-2.0-cp311-any.whl", "a = 1\n")
    (tmp_path / "installed" / "torch").mkdir(parents=True)
    (tmp_path / "installed" / "torch" / "__init__.py").write_text("a = 2\n")
    before, after = sides.both(file, f"wheel:{tmp_path / 'installed'}")
    assert [before.name, before.tree.read("torch/__init__.py")] == ["torch-2.0-cp311-any.whl", "a = 1\n"]
    assert [after.has_tests, after.tree.read("torch/__init__.py")] == [False, "a = 2\n"]


def test_wheels_are_called_by_their_version_and_read_at_the_commit_they_were_built_from(
    sides: Sides, tmp_path: Path
) -> None:
    told = [f"__version__ = '2.{n}.0'\ngit_version = '{n * 40}'\n" for n in "34"]
    wheels = [_wheel(tmp_path, f"torch-{n}.whl", "", text) for n, text in enumerate(told)]
    before, after = sides.both(*wheels)
    assert (before.name, after.name) == ("2.3.0", "2.4.0")
    assert origin_of(before, after, sides.repo, "acme/pytorch") == Origin(
        "https://github.com/acme/pytorch", "3" * 40, "4" * 40
    )
    assert origin_of(before, replace(after, commit=""), sides.repo, "acme/pytorch") == Origin()


def test_a_wheel_and_a_checkout_say_nothing_about_an_upgrade(sides: Sides, tmp_path: Path) -> None:
    file = _wheel(tmp_path, "torch-2.0-cp311-any.whl", "")
    with pytest.raises(NothingToCompare, match=r"new has tests and torch-2\.0-cp311-any\.whl has none"):
        sides.both(file, "new")


@pytest.mark.parametrize("given", ["gone", "--output=x", "new:test", "wheel:manifests"])
def test_what_is_no_tree_is_refused(sides: Sides, given: str) -> None:
    with pytest.raises(NoTree):
        sides.both("old", given)


def test_a_torch_that_no_environment_has_is_named(sides: Sides) -> None:
    with pytest.raises(NoTree, match=r"no environment of this machine has torch 9\.9; there is"):
        sides.both("old", "wheel:9.9")


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("https://github.com/acme/pytorch", "https://github.com/acme/pytorch"),
        ("https://github.com/acme/pytorch.git", "https://github.com/acme/pytorch"),
        ("ssh://git@github.com/acme/pytorch.git", "https://github.com/acme/pytorch"),
        ("https://example.org/x\"onclick='", "https://github.com/pytorch/pytorch"),
        ("", "https://github.com/pytorch/pytorch"),
    ],
)
def test_links_lead_to_the_clone_s_origin_where_that_is_on_github(clone: Repository, origin: str, address: str) -> None:
    if origin:
        clone.git("remote", "add", "origin", origin)
    assert web_address(clone.path, "pytorch/pytorch") == address
