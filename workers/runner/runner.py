"""Collects and runs upstream test files, and tasks of ours, in child processes, so that nothing they do can hurt the
worker.

torch is imported by the warm parents only, in the sandbox. A child that dies takes one test with it; the rest goes on
in a new one. Verdicts are not made here: an observation says what was seen, not whether it was right.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from relay.contract import MESSAGE_CAP, OPERATORS_CAP, Observation
from workers.runner.answers import Pieces
from workers.runner.child.events import mark
from workers.runner.child.order import Order
from workers.runner.child_process import start_child
from workers.runner.details import capped
from workers.runner.executed_names import OnExecuted
from workers.runner.file_run import FileRun
from workers.runner.findings import STOPPED, Findings, collect_problem
from workers.runner.ledger import OPERATOR_CHARS, Ledger
from workers.runner.parents import TorchUnavailableError, WarmParents
from workers.runner.sandbox import Sandbox
from workers.runner.types import (
    Answer,
    Collection,
    Installation,
    RunnerLimits,
    RunnerTree,
    Task,
    TestOutcome,
    WantedTest,
)
from workers.runner.watch import Clock, follow

_DEFAULTS = RunnerLimits()


class Runner(AbstractContextManager["Runner"]):
    """Runs test files on one device, inside a `with` block at whose end all its processes are gone.

    With a device library in the `installation` PyTorch's device tests are generated for its device; without one they
    run on the CPU, PyTorch's reference device, and the device is `cpu`. `scratch` is a folder for homes and temporary
    files. With `on_executed` the functions that tests execute are recorded, which takes its time; see
    `child.functions`. A runner belongs to the thread that uses it first: its processes die with that thread.
    """

    def __init__(
        self,
        installation: Installation,
        scratch: Path,
        sandbox: Sandbox,
        limits: RunnerLimits = _DEFAULTS,
        on_executed: OnExecuted | None = None,
    ) -> None:
        if installation.library is None and installation.package is None and installation.device != "cpu":
            raise ValueError(f"device {installation.device} needs a library or a package; without one only cpu can run")
        self._device = installation.device
        self._limits = limits
        self._on_executed = on_executed
        self._parents = WarmParents(installation, scratch, sandbox, limits, recording=on_executed is not None)

    def __exit__(self, *_: object) -> None:
        self._parents.close()

    def probe(self, tree: RunnerTree) -> str:
        """Why torch cannot be imported from this tree; an empty text when it can."""
        try:
            self._parents.ready(tree, lambda: False)
        except TorchUnavailableError as error:
            return capped(str(error))
        return ""

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection:
        """The tests of one file (a path in the checkout), in the file's order. Problems of the file are in `error`, a
        stop is one of them."""
        path = tree.locate(file)
        if path is None:
            return Collection((), _absent(file))
        findings = Findings(file)
        try:
            parent = self._parents.ready(tree, should_stop)
        except TorchUnavailableError as error:
            return Collection((), capped(str(error)))
        if parent is None:
            return findings.collection(STOPPED)
        with start_child(parent, self._order(tree, file, path, None), self._limits.output_bytes) as child:
            ending = follow(child, Clock(self._limits, {}), findings.receive, should_stop)
            output = child.output_after(mark(file)) or parent.last_words()
            problem = collect_problem(ending, self._limits, self._parents.without_paths(tree, output))
        return findings.collection(problem)

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """Run `tests` of one file in their order, then those to be isolated; `on_outcome` gets each outcome when it is
        known, one per id.

        Only `should_stop` answering True (asked after every test and while waiting) or an exception from one of the
        two functions, which is passed on, leaves ids without an outcome.
        """
        wanted = {test.id: test for test in tests}
        ledger = Ledger(wanted, on_outcome, self._on_executed)
        path = tree.locate(file)
        if path is None:
            ledger.settle_rest(Observation.MISSING, _absent(file))
            return
        order = self._order(tree, file, path, [])
        FileRun(self._parents, self._limits, tree, order, wanted, ledger, should_stop).run()

    def answer(self, tree: RunnerTree, task: Task, should_stop: Callable[[], bool] = lambda: False) -> Answer:
        """What a task answers that is not about tests; within the time that a file has to be collected."""
        pieces = Pieces(self._limits.answer_bytes)
        try:
            parent = self._parents.ready(tree, should_stop)
        except TorchUnavailableError as error:
            return Answer(b"", capped(str(error)))
        if parent is None:
            return pieces.answer(STOPPED)
        with start_child(parent, self._task_order(tree, task, None), self._limits.output_bytes) as child:
            ending = follow(child, Clock(self._limits, {}), pieces.receive, should_stop)
            output = child.output_after(mark(task.file)) or parent.last_words()
            problem = collect_problem(ending, self._limits, self._parents.without_paths(tree, output))
        return pieces.answer(problem)

    def run_task(
        self,
        tree: RunnerTree,
        task: Task,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """As `run`, for the tests of a task."""
        wanted = {test.id: test for test in tests}
        ledger = Ledger(wanted, on_outcome)
        order = self._task_order(tree, task, [])
        FileRun(self._parents, self._limits, tree, order, wanted, ledger, should_stop).run()

    def _task_order(self, tree: RunnerTree, task: Task, ids: list[str] | None) -> Order:
        """It runs where test files do: in upstream's `test` folder where there is one."""
        folder = tree.checkout.resolve()
        inside = folder / "test" if (folder / "test").is_dir() else folder
        order = self._order(tree, task.file, inside / "none", ids)
        return replace(order, directory=str(inside), program=task.program, task=task.text)

    def _order(self, tree: RunnerTree, file: str, path: Path, ids: list[str] | None) -> Order:
        return Order(
            checkout=str(tree.checkout.resolve()),
            file=file,
            path=str(path),
            directory=str(tree.working_directory(path)),
            device=self._device,
            ids=ids,
            key=secrets.token_hex(16),
            address_space_bytes=self._limits.address_space_bytes,
            file_bytes=self._limits.file_bytes,
            processes=self._limits.processes,
            detail_chars=MESSAGE_CAP,
            operators=OPERATORS_CAP,
            operator_chars=OPERATOR_CHARS,
        )


def _absent(file: str) -> str:
    return capped(f"the checkout has no file {file}")
