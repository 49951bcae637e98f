"""Running a file: exactly one outcome per ordered test, in bounded time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from relay.contract import Observation
from tests.workers.runner.bench import FILE, Bench
from workers.runner.runner import Runner
from workers.runner.sandbox import Unconfined
from workers.runner.types import Installation, TestOutcome, WantedTest

PASSED, FAILED, SKIPPED = Observation.PASSED, Observation.FAILED, Observation.SKIPPED
TIMED_OUT, MISSING, CRASHED = Observation.TIMED_OUT, Observation.MISSING, Observation.CRASHED


def test_every_way_a_test_can_end_has_its_observation(bench: Bench) -> None:
    bench.write("""
        import unittest

        class Sample(unittest.TestCase):
            def test_pass(self): pass
            def test_fail(self): self.assertEqual({"a": 1}, {"a": 2})
            def test_error(self): raise ValueError("not a number")
            @unittest.skip("too slow")
            def test_skip(self): pass
            def test_skip_inside(self): self.skipTest("no such device")
            @unittest.expectedFailure
            def test_expected(self): self.fail("known")
            @unittest.expectedFailure
            def test_unexpected(self): pass
            def test_subtests(self):
                for number in range(3):
                    with self.subTest(number=number):
                        self.assertNotEqual(number, 1)
            def test_cleanup(self): self.addCleanup(self.fail, "left behind")
    """)
    names = ["pass", "fail", "error", "skip", "skip_inside", "expected", "unexpected", "subtests", "cleanup"]
    outcomes = bench.run(*(f"test_{name}" for name in names))
    seen = {name: (outcomes[f"test_{name}"].observation, outcomes[f"test_{name}"].detail) for name in names}
    assert seen["pass"] == (PASSED, "")
    assert seen["skip"] == (SKIPPED, "too slow")
    assert seen["skip_inside"] == (SKIPPED, "no such device")
    assert seen["expected"] == (SKIPPED, "expected failure declared upstream")
    failures = {name: detail for name, (observation, detail) in seen.items() if observation is FAILED}
    assert failures.keys() == {"fail", "error", "unexpected", "subtests", "cleanup"}
    assert "'a': 2" in failures["fail"]
    assert failures["error"].startswith("ValueError: not a number\ntest/test_sample.py:")
    assert "nexpected success" in failures["unexpected"]
    assert "1 == 1" in failures["subtests"]
    assert "left behind" in failures["cleanup"]


def test_what_a_failed_test_printed_is_kept_and_is_its_own(bench: Bench) -> None:
    """Not that of its neighbours, and not that of a test which passed; the machine's folders are left out."""
    bench.write("""
        import os, sys, unittest

        class Sample(unittest.TestCase):
            def test_a(self): print("said by a")
            def test_b(self):
                print("said by b", os.path.abspath("test_sample.py"))
                sys.stderr.write("b complains\\n")
                os.write(1, b"=== written by b\\n")
                self.fail("b")
            def test_c(self): print("said by c")
            def test_d(self):
                sys.stdout.close()
                self.fail("d")
    """)
    outcomes = bench.run("test_a", "test_b", "test_c", "test_d")
    assert outcomes["test_a"].output == outcomes["test_c"].output == ""
    printed = outcomes["test_b"].output
    assert printed.splitlines() == ["said by b test/test_sample.py", "b complains", "=== written by b"]
    assert outcomes["test_d"].observation is FAILED


def test_fixtures_of_a_class_count_for_its_tests(bench: Bench) -> None:
    bench.write("""
        import unittest

        class Sample(unittest.TestCase):
            @classmethod
            def setUpClass(cls): raise RuntimeError("no device")
            def test_one(self): pass
            def test_two(self): pass
    """)
    outcomes = bench.run("test_one", "test_two")
    assert [outcome.observation for outcome in outcomes.values()] == [FAILED, FAILED]
    assert outcomes["test_two"].detail.startswith("in set-up: RuntimeError: no device")


def test_device_tests_run_against_the_installed_torch(torch_bench: Bench) -> None:
    """The checkout's own `torch` folder raises when imported; a second class takes its suffix like the first."""
    torch_bench.write("""
        import torch
        from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
        from torch.testing._internal.common_utils import TestCase

        class First(TestCase):
            def test_sum(self, device): self.assertEqual(torch.ones(2, device=device).sum(), 2)
            def test_wrong(self, device): self.assertEqual(torch.ones(2, device=device), torch.zeros(2))
        class Second(TestCase):
            @onlyCUDA
            def test_other(self, device): pass

        instantiate_device_type_tests(First, globals())
        instantiate_device_type_tests(Second, globals())
    """)
    outcomes: dict[str, TestOutcome] = {}
    ids = [
        f"{FILE}::{name}"
        for name in ("SecondCPU::test_other_cpu", "FirstCPU::test_wrong_cpu", "FirstCPU::test_sum_cpu")
    ]
    torch_bench.runner.run(
        torch_bench.tree,
        FILE,
        list(map(WantedTest, ids)),
        lambda outcome: outcomes.update({outcome.id: outcome}),
        lambda: False,
    )
    assert list(outcomes) == ids, "the given order is kept"
    assert [outcomes[test].observation for test in ids] == [SKIPPED, FAILED, PASSED]
    assert "Mismatched elements: 2 / 2" in outcomes[ids[1]].detail
    assert "test/test_sample.py" in outcomes[ids[1]].detail


def test_device_tests_run_on_spyre_and_every_class_carries_its_name(torch_bench: Bench, device_library: Path) -> None:
    """PyTorch calls the first device class of a process `...PRIVATEUSE1` and the later ones `...SPYRE`."""
    torch_bench.write("""
        import torch
        from torch.testing._internal.common_device_type import instantiate_device_type_tests
        from torch.testing._internal.common_utils import TestCase

        class First(TestCase):
            def test_device(self, device): self.assertEqual(torch.ones(2, device=device).device.type, "spyre")
        class Second(TestCase):
            def test_device(self, device): self.assertEqual(torch.ones(2, device=device).device.type, "cpu")

        instantiate_device_type_tests(First, globals())
        instantiate_device_type_tests(Second, globals())
    """)
    torch_bench.installation = Installation("spyre", device_library)
    runner = torch_bench.runner
    collected = runner.collect(torch_bench.tree, FILE).tests
    assert [(test.id, test.cls, test.base) for test in collected] == [
        (f"{FILE}::FirstSPYRE::test_device_spyre", "First", "test_device"),
        (f"{FILE}::SecondSPYRE::test_device_spyre", "Second", "test_device"),
    ]
    ids = [test.id for test in collected]
    runner.run(torch_bench.tree, FILE, list(map(WantedTest, ids)), torch_bench.outcomes.append, lambda: False)
    assert [(outcome.id, outcome.observation) for outcome in torch_bench.outcomes] == [
        (ids[0], PASSED),
        (ids[1], FAILED),
    ]


def test_only_ordered_tests_run_and_unknown_ones_are_missing(bench: Bench) -> None:
    bench.write("""
        import unittest

        class Sample(unittest.TestCase):
            def test_ordered(self): pass
            def test_other(self): raise SystemExit
    """)
    outcomes = bench.run("test_unknown", "test_ordered", "test_ordered")
    assert {name: outcome.observation for name, outcome in outcomes.items()} == {
        "test_ordered": PASSED,
        "test_unknown": MISSING,
    }
    assert "holds no such test" in outcomes["test_unknown"].detail


@pytest.mark.parametrize(
    ("source", "observation", "reason"),
    [
        ("import no_such_module", MISSING, "no_such_module"),
        ("import os; os._exit(5)", CRASHED, "before any test ran: the process ended with exit status 5"),
        ("import time; time.sleep(3600)", TIMED_OUT, "not collected within 5 s"),
    ],
)
def test_a_file_that_cannot_be_imported_settles_every_test(
    bench: Bench, source: str, observation: Observation, reason: str
) -> None:
    bench.limits = replace(bench.limits, collect_timeout_s=5)
    bench.write(source)
    outcomes = bench.run("test_one", "test_two")
    assert [outcome.observation for outcome in outcomes.values()] == [observation] * 2
    assert all(reason in outcome.detail for outcome in outcomes.values())


def test_a_file_that_is_not_there_makes_its_tests_missing(bench: Bench) -> None:
    assert bench.seen("test_one") == [MISSING]


def test_a_file_out_of_time_goes_on_only_while_it_makes_progress(bench: Bench) -> None:
    """The first child ends one test, the second none: what is left is timed out, not tried again for ever."""
    bench.limits = replace(bench.limits, file_timeout_s=8)
    bench.write("""
        import time, unittest

        class Sample(unittest.TestCase):
            def test_quick(self): pass
            def test_slow(self): time.sleep(3600)
            def test_after(self): pass
    """)
    outcomes = bench.run("test_quick", "test_slow", "test_after")
    assert [outcome.observation for outcome in outcomes.values()] == [PASSED, TIMED_OUT, TIMED_OUT]
    assert "no test ended within 8 s" in outcomes["test_slow"].detail
    assert "in test_slow" in outcomes["test_slow"].detail


def test_restarts_are_bounded_and_what_was_not_run_says_so(bench: Bench) -> None:
    bench.limits = replace(bench.limits, children=2)
    bench.write("""
        import os, unittest

        class Sample(unittest.TestCase):
            def test_a(self): os._exit(1)
            def test_b(self): os._exit(1)
            def test_c(self): pass
    """)
    outcomes = bench.run("test_a", "test_b", "test_c")
    assert [outcome.observation for outcome in outcomes.values()] == [CRASHED] * 3
    assert outcomes["test_c"].detail == "not run: the file used up 2 processes"


def test_a_stop_is_obeyed_at_the_next_test_and_while_one_runs(bench: Bench) -> None:
    started = bench.folder / "started"
    bench.write(f"""
        import time, unittest

        class Sample(unittest.TestCase):
            def test_one(self): pass
            def test_two(self): pass
            def test_endless(self):
                open({str(started)!r}, "w").close()
                time.sleep(3600)
    """)
    assert list(bench.run("test_one", "test_two", should_stop=lambda: bool(bench.outcomes))) == ["test_one"]
    bench.outcomes.clear()
    assert bench.run("test_endless", should_stop=started.exists) == {}


def test_an_error_of_the_receiver_ends_the_child_and_is_passed_on(bench: Bench) -> None:
    class LeaseLostError(Exception):
        """The receiver cannot use outcomes any more."""

    def lost(_: TestOutcome) -> None:
        raise LeaseLostError

    bench.write("""
        import time, unittest

        class Sample(unittest.TestCase):
            def test_one(self): pass
            def test_two(self): time.sleep(3600)
    """)
    with pytest.raises(LeaseLostError):
        bench.runner.run(
            bench.tree, FILE, [WantedTest(bench.id("test_one")), WantedTest(bench.id("test_two"))], lost, lambda: False
        )
    bench.close()
    assert list(bench.scratch.iterdir()) == []


def test_a_slow_receiver_is_not_held_against_the_tests(bench: Bench) -> None:
    """While an outcome is being delivered the next tests run on; their words wait in the pipe, the clock does not."""
    bench.limits = replace(bench.limits, test_timeout_s=1)
    done = bench.folder / "done"
    bench.write(f"""
        import time, unittest

        class Sample(unittest.TestCase):
            def test_one(self): pass
            def test_two(self): time.sleep(0.5)
            def test_three(self): time.sleep(0.5)
            def test_four(self): open({str(done)!r}, "w").close()
    """)
    names = ("test_one", "test_two", "test_three", "test_four")

    def deliver(outcome: TestOutcome) -> None:
        bench.outcomes.append(outcome)
        while outcome.id.endswith("test_one") and not done.exists():
            pass

    bench.runner.run(bench.tree, FILE, [WantedTest(bench.id(name)) for name in names], deliver, lambda: False)
    assert [outcome.observation for outcome in bench.outcomes] == [PASSED] * 4


def test_a_device_without_its_library_is_refused(bench: Bench) -> None:
    with pytest.raises(ValueError, match="needs a library or a package"):
        Runner(Installation("spyre", None), bench.scratch, Unconfined("for a test"))


def test_details_name_files_by_their_place_in_the_tree_and_not_on_the_machine(bench: Bench) -> None:
    """Frames of the tested torch and refusals at import end on public pages."""
    (bench.folder / "overlay" / "torch" / "__init__.py").write_text(
        "def broken():\n    raise ValueError('deep inside')\n"
    )
    bench.write(
        """
        import unittest
        import torch

        class Sample(unittest.TestCase):
            def test_deep(self): torch.broken()
        """
    )
    detail = bench.run("test_deep")["test_deep"].detail
    assert "torch/__init__.py:2 in broken: raise ValueError('deep inside')" in detail
    bench.write("import torch\ntorch.broken()")
    error = bench.collect().error
    assert "torch/__init__.py:2: " in error
    assert str(bench.folder) not in detail + error
