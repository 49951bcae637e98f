"""What the runner costs beside pytest, in processor seconds of the whole tree of processes.

`python -m tests.benchmarks.bench_runner [PATH_TO_PYTORCH_TREE [COMPARISON...]]`, with the source tree of PyTorch 2.6.0:

- `files`: twenty upstream files, beside one fresh pytest process for each. At most 0.6 times as much.
- `crash`: a file in which one test of ten crashes, and one in which three do, beside `pytest -n1` (pytest-xdist), which
  starts a new worker after each crash. At most 0.4 times as much.
- `overhead`: a file of 2,000 short tests, beside plain pytest. At most 10 % more.

Both sides import the device, collect, and run the same tests with the same pytest options in the same environment; the
runner collects first and runs then, as a shard does, in its sandbox where the time of sandboxed processes can be
counted (`processor_time`). They take turns, and the median of the rounds counts. Machines that do other work at the
same time give larger figures, on both sides.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.processor_time import counts_all, processor_seconds
from workers.runner.sandbox import SandboxMode, choose_sandbox
from workers.spyre.build import ensure_library

#: Of PyTorch 2.6.0: each is collected by torch 2.13 and takes a fresh pytest process under five seconds.
FILES = (
    "test/test_complex.py",
    "test/nn/test_dropout.py",
    "test/nn/test_init.py",
    "test/nn/test_packed_sequence.py",
    "test/nn/test_pruning.py",
    "test/nn/test_module_hooks.py",
    "test/nn/test_lazy_modules.py",
    "test/test_shape_ops.py",
    "test/test_numpy_interop.py",
    "test/test_monitor.py",
    "test/test_module_tracker.py",
    "test/test_futures.py",
    "test/test_type_info.py",
    "test/test_set_default_mobile_cpu_allocator.py",
    "test/test_subclass.py",
    "test/test_show_pickle.py",
    "test/test_segment_reductions.py",
    "test/test_per_overload_api.py",
    "test/test_itt.py",
    "test/test_function_schema.py",
)
PYTEST = ("--noconftest", "-q", "-c", os.devnull, "-p", "no:cacheprovider")
PROJECT = Path(__file__).parents[2]

_HEAD = """\
import os
import torch
from torch.testing._internal.common_utils import TestCase, run_tests


class TestShort(TestCase):
"""
_SHORT = """\
    def test_{0}(self):
        self.assertEqual(torch.arange(4) + {0}, torch.tensor([{0}, {1}, {2}, {3}]))

"""
_CRASH = """\
    def test_{0}(self):
        os.abort()

"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Test files run by the runner and by `theirs`: commands one after the other. `target` is the largest ratio."""

    title: str
    target: float
    checkout: Path
    files: Sequence[str]
    theirs: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where things lie: the upstream tree, a folder for made-up files, and the environment that both sides run in."""

    tree: Path | None
    folder: Path
    library: Path
    sandbox: SandboxMode

    @property
    def made_up(self) -> Path:
        """The checkout of the files that are made up here."""
        return self.folder / "checkout"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def environment(self) -> dict[str, str]:
        """The same for both sides; the runner's own children get the same device by the runner's own means."""
        fixed = {"LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        device = {"PYTORCH_TESTING_DEVICE_ONLY_FOR": "privateuse1", "SPYRE_LIBRARY": str(self.library)}
        plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HOME": str(self.temporary), "TMPDIR": str(self.temporary)}
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), **fixed, **device, **plain}

    def upstream_files(self, tree: Path) -> Comparison:
        theirs = [self._pytest(tree, file) for file in FILES]
        return Comparison(f"{len(FILES)} upstream files, beside a fresh pytest for each", 0.6, tree, FILES, theirs)

    def crashes(self, count: int) -> Comparison:
        """One file of ten tests of which `count` abort."""
        crashing = range(1, 3 * count, 3)
        tests = [_CRASH.format(number) if number in crashing else _short(number) for number in range(10)]
        file = self._write(f"test_{count}_crashes.py", tests)
        xdist = self._pytest(self.made_up, file, "-p", "xdist", "-n1")
        title = f"a file with {count} of 10 tests crashing, beside pytest -n1"
        return Comparison(title, 0.4, self.made_up, [file], [xdist])

    def short_tests(self) -> Comparison:
        file = self._write("test_many.py", [_short(number) for number in range(2_000)])
        title = "a file of 2,000 short tests, beside plain pytest"
        return Comparison(title, 1.1, self.made_up, [file], [self._pytest(self.made_up, file)])

    def _write(self, name: str, tests: Sequence[str]) -> str:
        path = self.made_up / "test" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_HEAD + "".join(tests))
        return f"test/{name}"

    @staticmethod
    def _pytest(checkout: Path, file: str, *more: str) -> list[str]:
        return [sys.executable, "-P", "-m", "pytest", *PYTEST, f"--rootdir={checkout}", *more, str(checkout / file)]

    def ours(self, comparison: Comparison) -> float:
        command = [sys.executable, "-m", "tests.benchmarks.run_files", str(comparison.checkout), str(self.library)]
        return self._spend([*command, self.sandbox, *comparison.files], PROJECT, (0,))

    def theirs(self, comparison: Comparison) -> float:
        # pytest ends with 1 when a test failed, with more when it could not do its work.
        return sum(self._spend(command, comparison.checkout / "test", (0, 1)) for command in comparison.theirs)

    def _spend(self, command: Sequence[str], directory: Path, fine: Sequence[int]) -> float:
        self.temporary.mkdir(exist_ok=True)
        log = self.folder / "log"
        spent = processor_seconds(command, directory, self.environment, log)
        if spent.status not in fine:
            raise RuntimeError(
                f"{' '.join(command)} ended with {spent.status}:\n{log.read_text(errors='replace')[-2000:]}"
            )
        return spent.seconds


def main() -> int:
    """Measure, and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, nargs="?", help="the source tree of PyTorch 2.6.0; needed for `files`")
    parser.add_argument("comparisons", nargs="*", metavar="COMPARISON", help="files, crash, overhead; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the median counts (default 5)")
    parser.add_argument("--cache", type=Path, default=Path(".relay/device"), help="keeps built device libraries")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-runner-") as folder:
        Path(folder).chmod(0o755)  # a sandboxed child is another user
        sandbox = SandboxMode.AUTO if counts_all() else SandboxMode.OFF
        sys.stdout.write(f"our side runs in this sandbox: {choose_sandbox(sandbox).name}\n")
        library = ensure_library(wanted.cache.resolve())
        bench = Bench(wanted.tree and wanted.tree.resolve(), Path(folder), library, sandbox)
        for comparison in _comparisons(bench, wanted.comparisons or ("files", "crash", "overhead")):
            _compare(bench, comparison, wanted.rounds)
    return 0


def _comparisons(bench: Bench, names: Sequence[str]) -> list[Comparison]:
    found: list[Comparison] = []
    if "files" in names and bench.tree is None:
        sys.stdout.write("files: left out, no PyTorch source tree was named\n")
    elif "files" in names and bench.tree is not None:
        found.append(bench.upstream_files(bench.tree))
    if "crash" in names and importlib.util.find_spec("xdist") is None:
        sys.stdout.write("crash: left out, pytest-xdist is not installed (pip install pytest-xdist)\n")
    elif "crash" in names:
        found += [bench.crashes(1), bench.crashes(3)]
    if "overhead" in names:
        found.append(bench.short_tests())
    return found


def _compare(bench: Bench, comparison: Comparison, rounds: int) -> None:
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(bench.theirs(comparison))
        ours.append(bench.ours(comparison))
    mine, other = statistics.median(ours), statistics.median(theirs)
    sys.stdout.write(
        f"{comparison.title}: {mine:.1f} s and {other:.1f} s of processor time, ratio {mine / other:.2f} "
        f"(target at most {comparison.target:g})\n"
    )
    sys.stdout.flush()


def _short(number: int) -> str:
    return _SHORT.format(number, number + 1, number + 2, number + 3)


if __name__ == "__main__":
    sys.exit(main())
