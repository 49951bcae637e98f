"""The warm parent: what its children share, what they do not, and what happens when tests turn on it."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from relay.contract import Observation
from tests.workers.runner.bench import FILE, Bench, alive
from workers.runner.runner import Runner
from workers.runner.sandbox import Launch, Unconfined
from workers.runner.types import Installation, RunnerTree, WantedTest

PASSED, FAILED, CRASHED = Observation.PASSED, Observation.FAILED, Observation.CRASHED


def parents(bench: Bench) -> list[str]:
    """The warm parents that tests with `note` saw, in order."""
    return (bench.folder / "parents").read_text().split()


def note(bench: Bench) -> str:
    return f"open({str(bench.folder / 'parents')!r}, 'a').write(f'{{os.getppid()}} ')"


def test_files_share_one_parent_and_nothing_else(bench: Bench) -> None:
    """What one file does to its process is not there for the next."""
    for name in ("a", "b"):
        bench.write(
            f"""
            import os, sys, unittest

            class Sample(unittest.TestCase):
                def test_clean(self):
                    {note(bench)}
                    self.assertNotIn("OF_A_TEST", os.environ)
                    self.assertFalse(hasattr(unittest, "of_a_test"))
                    os.environ["OF_A_TEST"] = unittest.of_a_test = "x"
            """,
            f"test/test_{name}.py",
        )
    for name in ("a", "b", "a"):
        test = WantedTest(f"test/test_{name}.py::Sample::test_clean")
        bench.runner.run(bench.tree, f"test/test_{name}.py", [test], bench.outcomes.append, lambda: False)
    assert [outcome.observation for outcome in bench.outcomes] == [PASSED] * 3
    assert len(parents(bench)) == 3
    assert len(set(parents(bench))) == 1


def test_a_test_can_have_a_process_of_its_own(bench: Bench) -> None:
    bench.write("""
        import os, unittest

        class Sample(unittest.TestCase):
            seen = []
            def _see(self):
                self.seen.append(os.getpid())
                self.assertEqual(len(self.seen), 1)
            def test_alone(self): self._see()
            def test_alone_too(self): self._see()
            def test_first(self): self._see()
            def test_second(self): self.assertEqual(len(self.seen), 1)
    """)
    outcomes = bench.run_wanted(
        WantedTest(bench.id("test_alone"), isolate=True),
        WantedTest(bench.id("test_first")),
        WantedTest(bench.id("test_alone_too"), isolate=True),
        WantedTest(bench.id("test_second")),
    )
    assert list(outcomes) == ["test_first", "test_second", "test_alone", "test_alone_too"], (
        "the isolated ones come last"
    )
    assert {outcome.observation for outcome in outcomes.values()} == {PASSED}


def test_a_test_has_the_limit_it_asked_for(bench: Bench) -> None:
    """One with less time ends early, one with more outlives the limits of tests and of files."""
    bench.limits = replace(bench.limits, test_timeout_s=2, file_timeout_s=3)
    bench.write("""
        import time, unittest

        class Sample(unittest.TestCase):
            def test_short(self): time.sleep(3600)
            def test_long(self): time.sleep(4)
    """)
    outcomes = bench.run_wanted(
        WantedTest(bench.id("test_short"), timeout_s=0.5), WantedTest(bench.id("test_long"), timeout_s=60)
    )
    assert outcomes["test_short"].observation is Observation.TIMED_OUT
    assert "ended after 0.5 s" in outcomes["test_short"].detail
    assert outcomes["test_long"].observation is PASSED


def test_a_killed_or_stopped_parent_is_replaced_and_no_other_test_suffers(bench: Bench) -> None:
    bench.write(f"""
        import os, signal, time, unittest

        class Sample(unittest.TestCase):
            def test_kill(self):
                {note(bench)}
                os.kill(os.getppid(), signal.SIGKILL)
            def test_between(self): {note(bench)}
            def test_stop(self):
                if os.fork() == 0:  # holds the pipes open
                    time.sleep(3600)
                os.kill(os.getppid(), signal.SIGSTOP)
                os._exit(3)
            def test_after(self): self.fail({note(bench)})
    """)
    outcomes = bench.run("test_kill", "test_between", "test_stop", "test_after")
    assert outcomes["test_kill"].observation in {PASSED, CRASHED}, "its end may come before its parent's"
    assert outcomes["test_between"].observation is PASSED
    assert outcomes["test_stop"].observation is CRASHED
    assert "watches over the tests" in outcomes["test_stop"].detail
    assert outcomes["test_after"].observation is FAILED
    assert len(set(parents(bench))) > 1


def test_a_parent_that_dies_or_hangs_while_it_gets_ready_for_a_file_costs_that_file_only(bench: Bench) -> None:
    """A known module that is laid over by the change is imported by the parent as well."""
    assert bench.overlay is not None
    internal = bench.overlay / "torch/testing/_internal"
    internal.mkdir(parents=True)
    for folder in (internal, internal.parent):
        (folder / "__init__.py").write_text("")
    (internal / "common_utils.py").write_text("import os; os._exit(3)")
    (internal / "common_nn.py").write_text("import time; time.sleep(3600)")
    (internal / "common_modules.py").write_text("raise ValueError('broken module')")
    bench.limits = replace(bench.limits, collect_timeout_s=4)
    for name, module in (("dies", "common_utils"), ("hangs", "common_nn"), ("fails", "common_modules"), ("good", "")):
        bench.write(
            f"from torch.testing._internal import {module}\n" if module else "def test_one(): pass",
            f"test/test_{name}.py",
        )
    errors = {
        name: bench.collect(f"test/test_{name}.py").error for name in ("dies", "good", "hangs", "good", "fails", "good")
    }
    assert "watches over the tests was ended" in errors["dies"]
    assert "not collected within 4 s" in errors["hangs"]
    assert "ValueError: broken module" in errors["fails"]
    assert errors["good"] == ""


def test_each_tree_has_its_own_torch_and_probing_tells_a_broken_one(bench: Bench) -> None:
    for name, source in (("one", "SIDE = 'one'"), ("two", "SIDE = 'two'"), ("broken", "import os; os.abort()")):
        package = bench.folder / name / "torch"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
    bench.write("import torch\nraise ValueError(torch.SIDE)")
    trees = {name: RunnerTree(bench.checkout, bench.folder / name) for name in ("one", "two", "broken")}
    for name in ("one", "two", "one"):
        assert bench.runner.probe(trees[name]) == ""
        assert f"ValueError: {name}" in bench.runner.collect(trees[name], FILE).error
    assert "while torch was imported, the process was killed by SIGABRT" in bench.runner.probe(trees["broken"])
    assert "SIGABRT" in bench.runner.collect(trees["broken"], FILE).error


def test_a_collection_is_stopped_while_torch_or_the_file_is_imported(bench: Bench) -> None:
    started = bench.folder / "started"
    bench.write(f"import time\nopen({str(started)!r}, 'w').close()\ntime.sleep(3600)")
    assert bench.runner.collect(bench.tree, FILE, started.exists).error == "the collection was stopped"
    assert bench.runner.collect(bench.tree, FILE, lambda: True).error == "the collection was stopped"


def test_nothing_of_a_runner_is_left_when_it_is_closed(bench: Bench) -> None:
    bench.write(f"""
        import os, unittest

        class Sample(unittest.TestCase):
            def test_one(self): {note(bench)}
    """)
    assert bench.seen("test_one") == [PASSED]
    bench.close()
    assert not alive(int(parents(bench)[0]))
    assert list(bench.scratch.iterdir()) == []


class Recording(Unconfined):
    """Keeps what it is asked to start."""

    def __init__(self) -> None:
        super().__init__("for a test")
        self.launches: list[Launch] = []

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        self.launches.append(launch)
        return super().start(launch)


@pytest.mark.parametrize("by_path", [True, False])
def test_a_profile_that_is_a_file_is_shown_to_the_device(bench: Bench, by_path: bool) -> None:
    library, profile = bench.folder / "device" / "lib.so", bench.folder / "profiles" / "mine.toml"
    for file in (library, profile):
        file.parent.mkdir()
        file.touch()
    installation = Installation("spyre", library, profile=str(profile) if by_path else "compat")
    sandbox = Recording()
    with Runner(installation, bench.scratch, sandbox, bench.limits) as runner:
        runner.probe(bench.tree)
    assert (profile in sandbox.launches[0].readable) is by_path
    # Alone: in its folder is a lock that other shards wait for.
    assert library in sandbox.launches[0].readable
    assert sandbox.launches[0].environment["SPYRE_PROFILE"] == installation.profile
