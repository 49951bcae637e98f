"""Whatever a test does to its process, every other test of the file keeps its exact outcome."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from relay.contract import MESSAGE_CAP, Observation
from tests.waiting import until
from tests.workers.runner.bench import Bench, alive
from workers.runner.types import WantedTest

PASSED, FAILED, CRASHED = Observation.PASSED, Observation.FAILED, Observation.CRASHED


def test_a_process_that_dies_takes_one_test_with_it(bench: Bench) -> None:
    bench.write("""
        import ctypes, os, sys, unittest

        class Sample(unittest.TestCase):
            def test_first(self): pass
            def test_exit_code(self): os._exit(7)
            def test_exit_silently(self): os._exit(0)
            def test_between(self): self.assertEqual(1, 2, "wrong sum")
            def test_segfault(self):
                print("about to read nothing")
                ctypes.string_at(0)
            def test_sys_exit(self): sys.exit(3)
            def test_interrupt(self): raise KeyboardInterrupt
            def test_last(self): pass
    """)
    outcomes = bench.run(
        "test_first",
        "test_exit_code",
        "test_exit_silently",
        "test_between",
        "test_segfault",
        "test_sys_exit",
        "test_interrupt",
        "test_last",
    )
    assert [outcome.observation for outcome in outcomes.values()] == [
        PASSED,
        CRASHED,
        CRASHED,
        FAILED,
        CRASHED,
        FAILED,
        CRASHED,
        PASSED,
    ]
    assert "exit status 7" in outcomes["test_exit_code"].detail
    segfault = outcomes["test_segfault"].detail
    assert "SIGSEGV" in segfault
    assert "about to read nothing" in segfault
    assert "in test_segfault" in segfault, "the fault handler's stack is missing"
    assert "wrong sum" in outcomes["test_between"].detail
    assert "test_sample.py:8 in test_between" in outcomes["test_between"].detail


def test_an_endless_loop_in_c_ends_with_a_stack_and_the_rest_runs(bench: Bench) -> None:
    bench.limits = replace(bench.limits, test_timeout_s=4)
    bench.write("""
        import ctypes, itertools, signal, unittest

        class Sample(unittest.TestCase):
            def test_loop(self): sum(itertools.repeat(0))
            def test_stubborn(self):
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGABRT, signal.SIGTERM])
                ctypes.PyDLL(None).pause()
            def test_after(self): pass
    """)
    outcomes = bench.run("test_loop", "test_stubborn", "test_after")
    assert [outcome.observation for outcome in outcomes.values()] == [
        Observation.TIMED_OUT,
        Observation.TIMED_OUT,
        PASSED,
    ]
    assert "ended after 4 s" in outcomes["test_loop"].detail
    assert "in test_loop" in outcomes["test_loop"].detail
    assert outcomes["test_loop"].duration_s >= 4


def test_what_takes_all_memory_or_all_processes_hurts_nobody_else(bench: Bench) -> None:
    bench.write("""
        import mmap, os, time, unittest

        class Sample(unittest.TestCase):
            def test_memory(self):
                with self.assertRaises(OSError):
                    mmap.mmap(-1, 32 << 30)
                bytearray(32 << 30)
            def test_fork_bomb(self):
                for _ in range(600):
                    try:
                        if os.fork() == 0:
                            time.sleep(3600)
                            os._exit(0)
                    except OSError:
                        break
            def test_in_peace(self):
                with open(f"/proc/self/task/{os.getpid()}/children") as children:
                    self.assertEqual(children.read(), "")
            def test_abort(self): os.abort()
            def test_after(self): self.fail("after all")
    """)
    outcomes = bench.run("test_memory", "test_fork_bomb", "test_in_peace", "test_abort", "test_after")
    assert [outcome.observation for outcome in outcomes.values()] == [FAILED, PASSED, PASSED, CRASHED, FAILED]
    assert outcomes["test_memory"].detail.startswith("MemoryError")
    assert "SIGABRT" in outcomes["test_abort"].detail


def test_a_stopped_process_and_left_threads_end_in_time(bench: Bench) -> None:
    bench.limits = replace(bench.limits, test_timeout_s=2)
    bench.write("""
        import signal, threading, time, unittest

        class Sample(unittest.TestCase):
            def test_threads(self):
                for _ in range(40):
                    threading.Thread(target=time.sleep, args=(3600,)).start()
            # To this thread: another one could take what the process is sent, while this one runs on.
            def test_stop(self): signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
            def test_after(self): pass
    """)
    outcomes = bench.run("test_threads", "test_stop", "test_after")
    assert [outcome.observation for outcome in outcomes.values()] == [PASSED, Observation.TIMED_OUT, PASSED]
    assert "in test_stop" in outcomes["test_stop"].detail, "a stopped process must go on to show its stack"


def test_one_file_of_ten_that_cannot_be_imported_costs_no_other(bench: Bench) -> None:
    files = [f"test/test_{number}.py" for number in range(10)]
    for file in files:
        bench.write("class TestSample:\n    def test_one(self): pass", file)
    bench.write("import no_such_module", files[4])
    bench.write("", files[7])
    for file in files:
        wanted = [WantedTest(f"{file}::TestSample::test_one")]
        bench.runner.run(bench.tree, file, wanted, bench.outcomes.append, lambda: False)
    seen = {outcome.id.split("::")[0]: outcome for outcome in bench.outcomes}
    assert [file for file in files if seen[file].observation is not PASSED] == [files[4], files[7]]
    assert seen[files[4]].observation is seen[files[7]].observation is Observation.MISSING
    assert "no_such_module" in seen[files[4]].detail
    empty = bench.collect(files[7])
    assert (empty.tests, empty.error) == ((), "")


def test_ids_of_any_text_and_length_come_back_as_they_were_collected(bench: Bench) -> None:
    bench.write(r"""
        import pytest

        NAMES = ["\N{SNOWMAN} a b", "x" * 400, "a::b", "tab\tand\nline", "{'json': \"quote\"}", "\udc80"]

        @pytest.mark.parametrize("name", range(len(NAMES)), ids=NAMES)
        def test_named(name): assert name != 1
    """)
    tests = bench.collect().tests
    assert len(tests) == 6
    outcomes = bench.run_wanted(*(WantedTest(test.id) for test in tests))
    assert {outcome.id for outcome in bench.outcomes} == {test.id for test in tests}
    assert sorted(outcome.observation for outcome in outcomes.values()) == [FAILED] + [PASSED] * 5


def test_a_daemon_that_leaves_the_session_delays_nothing_and_does_not_survive(bench: Bench) -> None:
    note = bench.folder / "daemon.pid"
    bench.write(f"""
        import os, time, unittest

        class Sample(unittest.TestCase):
            def test_daemon(self):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        with open({str(note)!r}, "w") as file:
                            file.write(str(os.getpid()))
                        time.sleep(3600)
                    os._exit(0)
                while not os.path.exists({str(note)!r}) or not os.path.getsize({str(note)!r}):
                    time.sleep(0.01)
            def test_after(self): pass
    """)
    assert bench.seen("test_daemon", "test_after") == [PASSED, PASSED]
    until(lambda: not alive(int(note.read_text())))


def test_a_fork_that_runs_on_reports_nothing(bench: Bench) -> None:
    bench.write("""
        import os, unittest

        class Sample(unittest.TestCase):
            def test_fork_fails(self):
                child = os.fork()
                if child == 0:
                    raise RuntimeError("only in the fork")
                os.waitpid(child, 0)
            def test_fork_returns(self):
                child = os.fork()
                if child:
                    os.waitpid(child, 0)
            def test_after(self): pass
    """)
    assert bench.seen("test_fork_fails", "test_fork_returns", "test_after") == [PASSED, PASSED, PASSED]


def test_garbage_on_every_descriptor_changes_no_outcome(bench: Bench) -> None:
    bench.write("""
        import os, unittest

        def everywhere(data):
            for name in os.listdir("/proc/self/fd"):
                try:
                    os.write(int(name), data)
                except OSError:
                    pass

        class Sample(unittest.TestCase):
            def test_half_a_line(self): everywhere(b'{"event": "Ended", "id": "')
            def test_noise(self): everywhere(bytes(range(256)) * 100)
            def test_wrong_events(self):
                everywhere(b'\\n{"event": "Ended", "id": 1}\\n{"event": "Began", "id": "x"}\\n[]\\n"Finished"\\n{}\\n')
            def test_deep(self): everywhere(b"\\n" + b"[" * 50000 + b"\\n")
            def test_fails(self):
                everywhere(b"x" * 3000000)
                self.fail("as it should")
    """)
    names = ("test_half_a_line", "test_noise", "test_wrong_events", "test_deep", "test_fails")
    assert bench.seen(*names) == [PASSED] * 4 + [FAILED]


def test_a_flood_of_output_is_cut_and_the_end_is_kept(bench: Bench) -> None:
    bench.write("""
        import os, sys, unittest

        class Sample(unittest.TestCase):
            def test_flood(self):
                for _ in range(100):
                    sys.stdout.write("x" * 1000000)
            def test_flood_and_die(self):
                sys.stdout.write("y" * 5000000 + "famous last words")
                sys.stdout.flush()
                os._exit(1)
    """)
    outcomes = bench.run("test_flood", "test_flood_and_die")
    assert outcomes["test_flood"].observation is PASSED
    assert outcomes["test_flood_and_die"].observation is CRASHED
    assert outcomes["test_flood_and_die"].detail.endswith("famous last words")
    assert len(outcomes["test_flood_and_die"].detail) <= MESSAGE_CAP


def test_closed_descriptors_are_survived_or_named(bench: Bench) -> None:
    """A test that closes a guessed range keeps its outcome; one that finds the event pipe loses only itself."""
    bench.write("""
        import os, unittest

        class Sample(unittest.TestCase):
            def test_closes_some(self): os.closerange(0, 256)
            def test_between(self): pass
            def test_closes_all(self): os.closerange(0, 65536)
            def test_replaces_all(self):
                os.closerange(3, 65536)
                for _ in range(600):
                    os.open("/dev/null", os.O_WRONLY)
            def test_after(self): pass
    """)
    outcomes = bench.run("test_closes_some", "test_between", "test_closes_all", "test_replaces_all", "test_after")
    assert [outcome.observation for outcome in outcomes.values()] == [PASSED, PASSED, CRASHED, CRASHED, PASSED]
    assert "closed the runner's event pipe" in outcomes["test_closes_all"].detail
    assert "closed the runner's event pipe" in outcomes["test_replaces_all"].detail


def test_a_file_that_deletes_itself_runs_on_until_it_has_to_be_read_again(bench: Bench) -> None:
    bench.write("""
        import os, unittest

        class Sample(unittest.TestCase):
            def test_delete(self): os.unlink(__file__)
            def test_still_there(self): self.fail("with its message")
            def test_die(self): os._exit(1)
            def test_gone(self): pass
    """)
    outcomes = bench.run("test_delete", "test_still_there", "test_die", "test_gone")
    assert [outcome.observation for outcome in outcomes.values()] == [PASSED, FAILED, CRASHED, Observation.MISSING]
    assert "with its message" in outcomes["test_still_there"].detail


def test_nothing_of_the_worker_environment_reaches_a_test(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("""
        import os, unittest

        class Sample(unittest.TestCase):
            def test_secret(self):
                self.assertEqual([name for name in os.environ if name.startswith("RELAY_")], [])
                self.assertNotIn("CI", os.environ)
            def test_home(self):
                self.assertTrue(os.path.expanduser("~").startswith(os.path.dirname(os.environ["TMPDIR"])))
            def test_stdin(self): self.assertEqual(os.read(0, 1), b"")
    """)
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "secret")
    monkeypatch.setenv("CI", "1")
    assert bench.seen("test_secret", "test_home", "test_stdin") == [PASSED, PASSED, PASSED]
    bench.close()
    assert list(bench.scratch.iterdir()) == []


def test_a_killed_worker_takes_its_child_along(bench: Bench) -> None:
    note = bench.folder / "child.pid"
    bench.write(f"""
        import os, time, unittest

        class Sample(unittest.TestCase):
            def test_wait(self):
                with open({str(note)!r}, "w") as file:
                    file.write(str(os.getpid()))
                time.sleep(3600)
    """)
    program = f"""
from pathlib import Path
from workers.runner.runner import Runner
from workers.runner.sandbox import Unconfined
from workers.runner.types import Installation, RunnerTree, WantedTest
runner = Runner(Installation("cpu", None), Path({str(bench.scratch)!r}), Unconfined("for a test"))
tree = RunnerTree(Path({str(bench.checkout)!r}), Path({str(bench.overlay)!r}))
runner.run(tree, "test/test_sample.py", [WantedTest({bench.id("test_wait")!r})], print, lambda: False)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL) as worker:
        until(lambda: note.exists() and bool(note.read_text()))
        child = int(note.read_text())
        assert alive(child)
        worker.send_signal(signal.SIGKILL)
    until(lambda: not alive(child))
