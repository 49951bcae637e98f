"""Collects and runs upstream test files in child processes, so that nothing a test does can hurt the worker.

torch is imported in the children only. A child that dies takes one test with it; the rest goes on in a new one.
Verdicts are not made here: an observation says what was seen, not whether it was right.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from relay.contract import MESSAGE_CAP, Observation
from selector.types import CollectedTest
from workers.runner.child.events import Event, Found, Refused, mark
from workers.runner.child.order import Order
from workers.runner.details import capped, how_it_ended, with_output
from workers.runner.environment import child_environment
from workers.runner.ledger import Ledger
from workers.runner.process import Child, start_child
from workers.runner.sandbox import Sandbox
from workers.runner.types import Collection, Installation, RunnerLimits, RunnerTree, TestOutcome, WantedTest
from workers.runner.watch import End, Ending, follow

_DEFAULTS = RunnerLimits()


class Runner(AbstractContextManager["Runner"]):
    """Runs test files on one device, inside a `with` block at whose end all its processes are gone.

    With a device library in the `installation` PyTorch's device tests are generated for its device; without one they
    run on the CPU, PyTorch's reference device, and the device is `cpu`. `scratch` is a folder for the homes and
    temporary files of children.
    """

    def __init__(
        self, installation: Installation, scratch: Path, sandbox: Sandbox, limits: RunnerLimits = _DEFAULTS
    ) -> None:
        device = installation.device
        if installation.library is None and device != "cpu":
            raise ValueError(f"device {device} needs a device library; without one only cpu can run")
        self._device = device
        self._library = installation.library
        self._scratch = scratch
        self._sandbox = sandbox
        self._limits = limits

    def __exit__(self, *_: object) -> None:
        return None

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection:
        """The tests of one file (a path in the checkout), in the file's order. Problems of the file are in `error`."""
        path = tree.locate(file)
        if path is None:
            return Collection((), _absent(file))
        findings = _Findings(file)
        with self._child(tree, file, path, None) as child:
            ending = follow(child, self._limits, findings.receive, should_stop)
            problem = self._collect_problem(ending, _output(child, tree, file))
        return findings.collection(problem)

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """Run `tests` of one file in their order; `on_outcome` gets each outcome when it is known, one per id.

        Only `should_stop` answering True (asked after every test and while waiting) or an exception from one of the
        two functions, which is passed on, leaves ids without an outcome.
        """
        ledger = Ledger([test.id for test in tests], on_outcome)
        path = tree.locate(file)
        if path is None:
            ledger.settle_all(Observation.MISSING, _absent(file))
        for _ in range(self._limits.children):
            if path is None or not ledger.pending or should_stop():
                return
            self._run_child(tree, file, path, ledger, should_stop)
        if not should_stop():
            ledger.settle_all(Observation.CRASHED, f"not run: the file used up {self._limits.children} processes")

    def _run_child(
        self, tree: RunnerTree, file: str, path: Path, ledger: Ledger, should_stop: Callable[[], bool]
    ) -> None:
        ledger.new_child()
        with self._child(tree, file, path, ledger.pending) as child:
            ending = follow(child, self._limits, ledger.receive, should_stop)
            output = _output(child, tree, ledger.running or file)
        match ending.end:
            case End.FINISHED:
                ledger.settle_all(Observation.MISSING, ledger.refusal or f"{file} holds no such test")
            case End.EXITED:
                self._conclude(ledger, Observation.CRASHED, how_it_ended(ending.status), output)
            case End.TEST_TIMEOUT:
                sentence = f"ended after {self._limits.test_timeout_s:g} s, the limit of a test"
                self._conclude(ledger, Observation.TIMED_OUT, sentence, output)
            case End.COLLECT_TIMEOUT if not ledger.progressed:
                ledger.settle_all(Observation.TIMED_OUT, with_output(self._not_collected(), output))
            case End.FILE_TIMEOUT if not ledger.progressed:
                sentence = f"no test ended within {self._limits.file_timeout_s:g} s, the limit of a file"
                ledger.settle_all(Observation.TIMED_OUT, with_output(sentence, output))
            case _:
                pass  # stopped, or out of time with something to show for it: the next child takes the rest

    @staticmethod
    def _conclude(ledger: Ledger, observation: Observation, sentence: str, output: str) -> None:
        """Blame the running test. Between tests nobody is to blame, unless there is no progress to be had."""
        if ledger.running is not None:
            ledger.settle_running(observation, with_output(sentence, output))
        elif not ledger.progressed:
            ledger.settle_all(observation, with_output(f"before any test ran: {sentence}", output))

    def _collect_problem(self, ending: Ending, output: str) -> str:
        match ending.end:
            case End.FINISHED:
                return ""
            case End.EXITED:
                return with_output(f"while the file was collected: {how_it_ended(ending.status)}", output)
            case _:
                return with_output(self._not_collected(), output)

    def _not_collected(self) -> str:
        return f"the file was not collected within {self._limits.collect_timeout_s:g} s"

    @contextmanager
    def _child(self, tree: RunnerTree, file: str, path: Path, ids: list[str] | None) -> Iterator[Child]:
        cookie = secrets.token_hex(8)
        self._scratch.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="child-", dir=self._scratch))
        try:
            environment = child_environment(
                device_library=self._library, torch_path=tree.torch_path, scratch=scratch, cookie=cookie
            )
            with start_child(
                self._order(tree, file, path, ids),
                environment,
                directory=tree.working_directory(path),
                cookie=cookie,
                output_bytes=self._limits.output_bytes,
            ) as child:
                yield child
        finally:
            # A test may have left what cannot be removed (an odd mode, a mount); the worker clears its folder whole.
            shutil.rmtree(scratch, ignore_errors=True)

    def _order(self, tree: RunnerTree, file: str, path: Path, ids: list[str] | None) -> Order:
        return Order(
            checkout=str(tree.checkout.resolve()),
            file=file,
            path=str(path),
            device=self._device,
            ids=ids,
            parent=os.getpid(),
            events=-1,
            address_space_bytes=self._limits.address_space_bytes,
            file_bytes=self._limits.file_bytes,
            detail_chars=MESSAGE_CAP,
        )


class _Findings:
    """What a collecting child reports."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._tests: dict[str, CollectedTest] = {}
        self._refusals: list[str] = []

    def receive(self, event: Event) -> None:
        match event:
            case Found(id=test):
                fields = (event.cls, event.base, event.method, event.op, event.dtype)
                self._tests.setdefault(test, CollectedTest(test, self._file, *fields))
            case Refused(reason=reason):
                self._refusals.append(reason)
            case _:
                pass

    def collection(self, problem: str) -> Collection:
        """`problem` is what was seen from outside."""
        return Collection(
            tuple(self._tests.values()), capped("\n".join(text for text in (*self._refusals, problem) if text))
        )


def _output(child: Child, tree: RunnerTree, subject: str) -> str:
    """What the child printed since it began with `subject`, without the worker's own paths."""
    return child.output_after(mark(subject)).replace(str(tree.checkout.resolve()) + os.sep, "")


def _absent(file: str) -> str:
    return capped(f"the checkout has no file {file}")
