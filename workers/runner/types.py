"""The values the runner takes and gives. All frozen; nothing here starts a process or imports torch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from relay.contract import Observation
from selector.types import CollectedTest


@dataclass(frozen=True, slots=True)
class RunnerTree:
    """The upstream checkout whose test files run, and the torch they run against.

    `torch_path` is a folder that holds a `torch` package and goes first on the import path (the wheel with the
    change's Python files laid over it); None takes the installed torch.
    """

    checkout: Path
    torch_path: Path | None = None

    def locate(self, file: str) -> Path | None:
        """The test file, or None when `file` names no regular file inside the checkout (`..` and links included)."""
        root = self.checkout.resolve()
        path = (root / PurePosixPath(file)).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None

    def working_directory(self, path: Path) -> Path:
        """Where the test file runs: upstream's `test` folder, as upstream's own runner does, else its own folder.

        Never the checkout's root, where the `torch` source folder would be taken for the installed package.
        """
        upstream = self.checkout.resolve() / "test"
        return upstream if path.is_relative_to(upstream) else path.parent


@dataclass(frozen=True, slots=True)
class Installation:
    """Where tests run: the Python (with torch and pytest beside it), the device and its library.

    `library` is the emulated device's, `profile` its rules by name or path. Any other device has a `package`, installed
    for that Python, which registers it when it is imported; with neither it is the CPU, PyTorch's reference device.
    Nothing else of ours has to be installed for that Python. `weights` is a folder with weights of models, for children
    to read.
    """

    device: str
    library: Path | None
    python: Path = field(default_factory=lambda: Path(sys.executable))
    profile: str = "compat"
    package: str | None = None
    weights: Path | None = None


@dataclass(frozen=True, slots=True)
class WantedTest:
    """A test to run. `isolate`: in a process of its own; `timeout_s` (seconds) replaces the limit of a test."""

    id: str
    isolate: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What runs in a child in pytest's place: the full name of a module of ours whose `carry_out` takes the order, and
    the text that is meant for it. `file` is what its ids begin with; no such file has to exist."""

    file: str
    program: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a task answered. `error` says why there is none; empty when there is one. Untrusted."""

    data: bytes
    error: str = ""


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """How long and how large a child may get. Times in seconds, sizes in bytes.

    `collect_timeout_s` is the limit of importing torch, and that of importing a file. `file_timeout_s` is the life
    of one child. `output_bytes` is how much of its last output is kept, `file_bytes` how large a file it may write,
    `answer_bytes` how large the answer of a task, `processes` how many its user may have beside those of the machine.
    `children` bounds how many children a file's
    shared tests may use up; each costs a fork and the import of the file.
    """

    test_timeout_s: float = 60
    file_timeout_s: float = 600
    collect_timeout_s: float = 120
    address_space_bytes: int = 8 << 30
    file_bytes: int = 1 << 30
    output_bytes: int = 64 << 10
    answer_bytes: int = 256 << 20
    processes: int = 256
    children: int = 100


@dataclass(frozen=True, slots=True)
class Collection:
    """What a file holds. `error` says why the file, or a part of it, could not be collected; empty when all was."""

    tests: tuple[CollectedTest, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What was seen of one attempt at one test. `detail` is untrusted text within the contract's cap, `operators` what
    the device saw the test use (empty on the CPU). `output` is what a test printed that failed; untrusted as well. The
    last output of one that did not come to its end is a part of its `detail`."""

    __test__ = False
    id: str
    observation: Observation
    duration_s: float
    detail: str = ""
    operators: tuple[str, ...] = ()
    output: str = ""
