"""The warm parents of one runner: one per tree, started when first needed, at most two alive, all ended at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from relay.contract import Observation
from workers.runner.details import how_it_ended, with_output
from workers.runner.sandbox import Sandbox, interpreter_folders
from workers.runner.staging import stage
from workers.runner.types import Installation, RunnerLimits, RunnerTree
from workers.runner.warm_parent import WarmParent, start_warm_parent

#: Head and base of one change.
_ALIVE = 2
#: What is tried so often for one tree is not the accident of one file.
_STARTS = 2
_CODE = "code"


class TorchUnavailableError(Exception):
    """torch cannot be imported from a tree; `observation` is what that makes of the tests that need it."""

    def __init__(self, observation: Observation, problem: str) -> None:
        super().__init__(problem)
        self.observation = observation


class WarmParents:
    """Starts and ends them. `scratch` is a folder of the worker's, filled on demand."""

    def __init__(
        self, installation: Installation, scratch: Path, sandbox: Sandbox, limits: RunnerLimits, *, recording: bool
    ) -> None:
        self._recording = recording
        self._installation, self._scratch, self._sandbox, self._limits = installation, scratch, sandbox, limits
        self._alive: dict[RunnerTree, tuple[WarmParent, Path]] = {}
        self._problems: dict[RunnerTree, TorchUnavailableError] = {}
        self._failures: dict[RunnerTree, int] = {}
        self._staged: Path | None = None

    def ready(self, tree: RunnerTree, should_stop: Callable[[], bool]) -> WarmParent | None:
        """One that has imported torch from `tree`; None after a stop. Raises `TorchUnavailableError`."""
        if tree in self._problems:
            raise self._problems[tree]
        known = self._alive.pop(tree, None)
        if known is not None and not known[0].lost:
            self._alive[tree] = known  # the last one used is the last to go
            return known[0]
        if known is not None:
            self._end(*known)
        while len(self._alive) >= _ALIVE:
            self._end(*self._alive.pop(next(iter(self._alive))))
        return self._start(tree, should_stop)

    def close(self) -> None:
        """End them all, and remove what was staged."""
        while self._alive:
            self._end(*self._alive.popitem()[1])
        if self._staged is not None:
            shutil.rmtree(self._staged, ignore_errors=True)
            self._staged = None

    def _start(self, tree: RunnerTree, should_stop: Callable[[], bool]) -> WarmParent | None:
        scratch = self._folder("parent-")
        try:
            parent = start_warm_parent(
                self._installation,
                tree,
                self._sandbox,
                staged=self._stage(),
                scratch=scratch,
                output_bytes=self._limits.output_bytes,
                recording=self._recording,
            )
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        try:
            parent.wait_ready(self._limits.collect_timeout_s, should_stop)
        except BaseException:
            self._end(parent, scratch)
            raise
        if parent.problem == "":
            self._failures.pop(tree, None)
            self._alive[tree] = parent, scratch
            return parent
        status = self._end(parent, scratch)
        if parent.problem is None and should_stop():
            return None
        raise self._problem(tree, parent, status)

    def _problem(self, tree: RunnerTree, parent: WarmParent, status: int | None) -> TorchUnavailableError:
        """What is wrong; kept for good when torch itself says so, or when it is always the same."""
        if parent.problem is not None:
            error = TorchUnavailableError(Observation.MISSING, self.without_paths(tree, parent.problem))
        elif status is None:
            sentence = f"torch was not imported within {self._limits.collect_timeout_s:g} s"
            error = TorchUnavailableError(Observation.TIMED_OUT, sentence)
        else:
            sentence = f"while torch was imported, {how_it_ended(status)}"
            output = self.without_paths(tree, parent.last_words())
            error = TorchUnavailableError(Observation.CRASHED, with_output(sentence, output))
        self._failures[tree] = self._failures.get(tree, 0) + 1
        if parent.problem is not None or self._failures[tree] >= _STARTS:
            self._problems[tree] = error
        return error

    def without_paths(self, tree: RunnerTree, text: str) -> str:
        """The machine's folders say nothing about tests or torch, and the text ends on public pages."""
        staged = self._staged / _CODE if self._staged is not None else None
        own = (tree.torch_path, tree.checkout.resolve(), staged, *interpreter_folders(self._installation.python))
        for folder in own:
            text = text.replace(f"{folder}{os.sep}", "") if folder is not None else text
        return text

    def _stage(self) -> Path:
        if self._staged is None:
            self._staged = self._folder("staged-")
            stage(self._staged / _CODE)
        return self._staged / _CODE

    def _folder(self, prefix: str) -> Path:
        self._scratch.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=prefix, dir=self._scratch)).resolve()

    @staticmethod
    def _end(parent: WarmParent, scratch: Path) -> int | None:
        status = parent.close()
        # A test may have left what cannot be removed (an odd mode, a mount); the worker clears its folder whole.
        shutil.rmtree(scratch, ignore_errors=True)
        return status
