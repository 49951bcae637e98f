"""Unmodified upstream test files on the device, beside the CPU in the same run: the table of what works.

`python -m tests.benchmarks.upstream PATH_TO_PYTORCH_TREE [--files FILE...] [--json OUT]`. Both sides go through our own
runner. A test that fails on both is version skew between tree and torch, and nothing is said about the device by it;
the overall figure counts tests that pass on the CPU and have a counterpart on the device (`device_pairs` says how they
are found), by default over the files that the device study used. Exit code 1 when a planned test got no outcome.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from relay.contract import Observation
from tests.benchmarks.device_pairs import Standing, by_reason, figures, pair, standing
from tests.benchmarks.device_sides import FileResult, measure
from tests.benchmarks.devices import Devices
from tests.benchmarks.stand_ins import installed_with_stand_ins
from tests.benchmarks.upstream_document import cpu_side, document
from workers.runner.sandbox import find_sandbox
from workers.runner.types import RunnerLimits, RunnerTree

FILES = (
    "test/test_complex.py",
    "test/nn/test_dropout.py",
    "test/test_indexing.py",
    "test/test_scatter_gather_ops.py",
    "test/test_segment_reductions.py",
    "test/test_shape_ops.py",
    "test/test_sort_and_select.py",
    "test/test_view_ops.py",
    "test/test_type_promotion.py",
    "test/nn/test_embedding.py",
    "test/nn/test_pooling.py",
    "test/nn/test_convolution.py",
    "test/test_masked.py",
    "test/test_spectral_ops.py",
    "test/test_serialization.py",
    "test/test_torch.py",
    "test/test_tensor_creation_ops.py",
    "test/test_autograd.py",
    "test/test_modules.py",
    "test/test_reductions.py",
    "test/test_binary_ufuncs.py",
)
DEVICE = "spyre"
_SHOWN_REASONS = 40


def main() -> int:
    """Run the files and print the table, the reasons and the overall figure."""
    wanted = _arguments()
    checkout = wanted.tree.resolve()
    files = wanted.files or [file for file in FILES if (checkout / file).is_file()]
    results: list[FileResult] = []
    with tempfile.TemporaryDirectory(prefix="upstream-") as scratch:
        # Open to the sandbox's own user, who has to read what stands in for torch.
        Path(scratch).chmod(0o755)
        torch_path, stand_ins = installed_with_stand_ins(Path(scratch, "torch"))
        tree = RunnerTree(checkout, torch_path)
        _say(f"names this torch lacks, made to do nothing on both devices: {', '.join(stand_ins) or 'none'}")
        limits = RunnerLimits(test_timeout_s=wanted.test_seconds, file_timeout_s=wanted.seconds)
        devices = Devices(wanted.cache.resolve(), Path(scratch), find_sandbox(), limits, wanted.profile)
        about = {"tree": str(tree.checkout), "profile": wanted.profile}
        _say(_HEADING)
        for file in files:
            reused = cpu_side(wanted.cpu_from, file)
            cpu = reused or measure(devices, tree, file, "cpu", wanted.seconds)
            device = measure(devices, tree, file, DEVICE, wanted.seconds)
            results.append(FileResult(file, cpu, device, pair(cpu.tests, device.tests, DEVICE)))
            _say(_row(results[-1]))
            if wanted.json is not None:
                wanted.json.write_text(json.dumps(document(results, **about), indent=1) + "\n")
    _report(results)
    return 1 if any(result.cpu.lost + result.device.lost for result in results) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path, help="a PyTorch source tree with its test folder")
    parser.add_argument("--files", nargs="+", metavar="FILE", help="test files, as paths in the tree")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write a row per test, and the figures, to this file")
    parser.add_argument("--profile", default="compat", help="rule profile of the device (default compat)")
    parser.add_argument("--cache", type=Path, default=Path(".relay/device"), help="keeps built device libraries")
    parser.add_argument("--seconds", type=float, default=1800, help="most time for a file on a device (default 1800)")
    parser.add_argument("--test-seconds", type=float, default=120, help="most time for one test (default 120)")
    parser.add_argument(
        "--cpu-from", type=Path, metavar="JSON", help="take the CPU's side from an earlier --json of the same tree"
    )
    return parser.parse_args()


_HEADING = (
    f"{'file':34} {'collected':>9} {'cpu p/f/s':>16} {'spyre p/f/s':>16} {'unsup':>5} {'only':>5} {'crash':>5} "
    f"{'time':>4} {'lost':>4} {'cut':>4} {'cpu s':>6} {'spyre s':>7}"
)


def _row(result: FileResult) -> str:
    cpu, device = result.cpu, result.device
    found = Counter(standing(each) for each in result.pairs)
    collected = f"{len(cpu.tests)}" if len(cpu.tests) == len(device.tests) else f"{len(cpu.tests)}-{len(device.tests)}"
    crashed, timed_out = (
        sum(side.count(observation) for side in (cpu, device))
        for observation in (Observation.CRASHED, Observation.TIMED_OUT)
    )
    row = (
        f"{result.file.removeprefix('test/'):34} {collected:>9} {cpu.triple():>16} {device.triple():>16} "
        f"{found[Standing.UNSUPPORTED]:5} {found[Standing.FAILED]:5} {crashed:5} {timed_out:4} "
        f"{cpu.lost + device.lost:4} {cpu.cut + device.cut:4} {cpu.seconds:6.0f} {device.seconds:7.0f}"
    )
    sides = (("cpu", cpu), (DEVICE, device))
    errors = [f"  {name}: {side.error.strip().splitlines()[-1]}" for name, side in sides if side.error]
    return "\n".join((row, *errors))


def _report(results: Sequence[FileResult]) -> None:
    pairs = [each for result in results for each in result.pairs]
    for heading, wanted in (
        (f"failures that only {DEVICE} has", Standing.FAILED),
        ("unsupported", Standing.UNSUPPORTED),
        (f"skipped on {DEVICE}, not on cpu", Standing.SKIPPED),
    ):
        chosen = [each for each in pairs if standing(each) is wanted]
        _say(f"\n{heading}, by reason: {len(chosen)}")
        for reason, group in by_reason(chosen)[:_SHOWN_REASONS]:
            _say(f"{len(group):6}  {reason}\n        for example {group[0].device.id if group[0].device else ''}")
    generated = [each for each in pairs if each.generated]
    _say(f"\nall:               {figures(pairs).sentence()}")
    _say(f"device tests only: {figures(generated).sentence()}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
