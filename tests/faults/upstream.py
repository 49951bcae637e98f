"""An upstream repository whose changes are many and small: each edits one test file that asks nothing of torch.

Written by one `git fast-import`, for a commit by `git commit` costs more than all that is tested here. What a change
does to the tests of its file is part of it: most pass, some break one test, some touch nothing that is tested.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

#: Files with tests, and tests in each.
FILES, TESTS = 8, 4
BRANCH = "main"

_MANIFEST = """\
test_suite_config:
  labels: [unit]
  files:
    - path: ${{TORCH_ROOT}}/{path}
      unlisted_test_mode: mandatory_success
"""


@dataclass(frozen=True, slots=True)
class UpstreamCommit:
    """One change: its commit, the one it stands on, and how many tests it breaks. `selects`: it edits a test file."""

    sha: str
    base: str
    selects: bool
    breaks: int


@dataclass(frozen=True, slots=True)
class Upstream:
    """The repository, and its changes in the order in which they were asked for."""

    repository: Path
    base: str
    commits: tuple[UpstreamCommit, ...]

    def show(self, number: int, sha: str) -> None:
        """Have the head of a pull request be a commit, as GitHub shows it to those who fetch."""
        git(self.repository, "update-ref", f"refs/pull/{number}/head", sha)


def make_upstream(folder: Path, changes: int, random: Random) -> Upstream:
    """`changes` commits beside each other on one base, in a new bare repository."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "--bare", "-b", BRANCH)
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    drafts = [_draft(number, random) for number in range(changes)]
    marks = folder / "marks"
    stream = "".join(_stream(drafts))
    subprocess.run(
        ["git", "-C", str(folder), "fast-import", "--quiet", f"--export-marks={marks}"],
        input=stream.encode(),
        check=True,
    )
    shas = dict(line.split() for line in marks.read_text().splitlines())
    base = shas[":1"]
    commits = tuple(
        UpstreamCommit(shas[f":{number + 2}"], base, draft.file is not None, draft.breaks)
        for number, draft in enumerate(drafts)
    )
    return Upstream(folder, base, commits)


def write_manifests(folder: Path) -> Path:
    """Manifests that expect every test to pass."""
    folder.mkdir(parents=True)
    for number in range(FILES):
        (folder / f"plain_{number}.yaml").write_text(_MANIFEST.format(path=_path(number)))
    return folder


def git(folder: Path, *arguments: str) -> str:
    """What git says."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True, slots=True)
class _Draft:
    """What a change edits: a test file by its number, or a document."""

    number: int
    file: int | None
    breaks: int


def _draft(number: int, random: Random) -> _Draft:
    chance = random.random()
    if chance < 0.1:
        return _Draft(number, None, 0)
    return _Draft(number, random.randrange(FILES), 1 if chance > 0.9 else 0)


def _stream(drafts: list[_Draft]) -> Iterator[str]:
    yield _commit(1, f"refs/heads/{BRANCH}", "Base", {_path(number): _tests("base") for number in range(FILES)})
    for draft in drafts:
        path = "docs/notes.md" if draft.file is None else _path(draft.file)
        text = f"Note {draft.number}.\n" if draft.file is None else _tests(f"change {draft.number}", draft.breaks)
        yield _commit(draft.number + 2, f"refs/changes/{draft.number}", f"Change {draft.number}", {path: text}, ":1")


def _commit(mark: int, ref: str, message: str, files: dict[str, str], parent: str = "") -> str:
    who = f"Upstream <upstream@example.invalid> {1_700_000_000 + mark} +0000"
    edits = "".join(f"M 100644 inline {path}\n{_data(text)}" for path, text in files.items())
    after = f"from {parent}\n" if parent else ""
    return f"commit {ref}\nmark :{mark}\ncommitter {who}\n{_data(message)}{after}{edits}\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _path(number: int) -> str:
    return f"test/test_plain_{number}.py"


def _tests(said: str, breaks: int = 0) -> str:
    """A file of plain tests; `said` makes it another than before."""
    expected = [said if number >= breaks else "" for number in range(TESTS)]
    methods = "".join(
        f"\n    def test_{number}(self):\n        self.assertEqual(SAID, {value!r})\n"
        for number, value in enumerate(expected)
    )
    head = f'# Owner(s): ["module: tests"]\nimport unittest\n\nSAID = {said!r}\n'
    return f"{head}\n\nclass TestPlain(unittest.TestCase):{methods}"
