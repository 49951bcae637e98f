"""`relay upgrade --publish` and `--run` against a relay behind a socket, with a stand-in for its worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from relay.app import create_app
from relay.settings import RelaySettings
from relay.upgrade.reading import read_report
from selector.upgrade.types import OutcomeKind
from tests.conftest import OPERATOR_TOKEN
from tests.relay.cli.conftest import Relay
from tests.relay.serving import serving
from tests.relay.stories import Story
from tests.relay.upgrade.test_running import run_due, variant
from tests.selector.upstream import Repository

FILE = "test/test_roll.py"
MANIFEST = """\
test_suite_config:
  files:
    - path: "${TORCH_ROOT}/test/test_roll.py"
      unlisted_test_mode: skip
      tests:
        - names: ["TestRoll::test_roll"]
          mode: mandatory_success
"""
ASKED = ("upgrade", "--repo", "clone", "--from", "old", "--to", "new")


def source(value: int) -> str:
    return (
        "from torch.testing._internal.common_utils import TestCase\n\n\n"
        f"class TestRoll(TestCase):\n    def test_roll(self):\n        assert roll() == {value}\n"
    )


@pytest.fixture
def clone(settings: RelaySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Tags `old` and `new`, whose trees say which release they are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RELAY_MANIFEST_DIR", str(settings.manifest_dir))
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", OPERATOR_TOKEN)
    monkeypatch.chdir(tmp_path)
    (settings.manifest_dir / "roll.yaml").write_text(MANIFEST)
    (tmp_path / "clone").mkdir()
    repository = Repository(tmp_path / "clone")
    repository.commit({FILE: source(1), "torch/__init__.py": "", "version.txt": "2.13.0\n"})
    repository.git("tag", "old")
    repository.commit({FILE: source(2), "version.txt": "2.14.0a0\n"})
    repository.git("tag", "new")
    return repository


@pytest.fixture
def url(settings: RelaySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A relay that sweeps often."""
    app = create_app(settings.model_copy(update={"sweep_seconds": 0.05}))
    with serving(app, whole=True) as address:
        monkeypatch.setenv("RELAY_URL", address)
        address_of[address] = app
        yield address


#: The application behind an address, for who plays its worker.
address_of: dict[str, FastAPI] = {}


def test_a_report_is_published_once(relay: Relay, clone: Repository, url: str) -> None:
    for words in ("is published", "was published before"):
        ended = relay(*ASKED, "--publish")
        assert ended.code == 0, ended.err
        assert f"the report {words}: " in ended.err
        assert "/upgrades/1" in ended.err


def test_its_tests_run_on_both_releases_and_the_report_says_what_differs(
    relay: Relay, clone: Repository, url: str
) -> None:
    served = address_of[url].state.relay
    story = Story(served.store)
    test = f"{FILE}::TestRoll::test_roll"
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.02):
            story.now = served.now()  # the sweep beside us takes back what a lease of long ago holds
            run_due(story, {2: frozenset({test})})

    worker = threading.Thread(target=work)
    worker.start()
    try:
        ended = relay(*ASKED, "--run", "--json", "report.json")
    finally:
        stop.set()
        worker.join(10)
    assert ended.code == 0, ended.err
    report = read_report((clone.path.parent / "report.json").read_bytes())
    assert report.outcomes is not None
    (found,) = report.outcomes.outcomes
    assert (found.id, found.kind) == (variant(test), OutcomeKind.MEANING)
    assert (found.before, found.after) == ("passed", "failed")
    assert "run 1 on old" in ended.err
    assert "run 2 on new" in ended.err


def test_folders_are_not_run(relay: Relay, clone: Repository, url: str) -> None:
    for tag in ("old", "new"):
        clone.git("worktree", "add", f"../{tag}-tree", tag)
    ended = relay("upgrade", "--from", "old-tree", "--to", "new-tree", "--run")
    assert ended.code == 1
    assert "no commits" in ended.err
