"""Every operator of torch's own database on the device, forward and backward, against the host.

`python -m tests.benchmarks.bench_operators [--dtype float32 ...]` takes minutes; float32 and float16 are the default. A
check is one operator, one dtype, forward or backward; it passes when all samples agree in values, dtype, strides and
gradients, and all results are on the device. The device draws the host's numbers for the same seed, so random operators
are compared like all others. Samples that fail on the host are left out, and so is a check without any other. Prints a
line for each check that did not pass, the counts, and the rest by reason. Exit code 1 when a check failed.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.device_pairs import alike
from tests.benchmarks.device_rules import rule_in
from workers.spyre.build import ensure_library

UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# The host has a fused kernel for it, other devices take the plain formula, which rounds elsewhere.
ABSOLUTE_TOLERANCE = {"nn.functional.scaled_dot_product_attention": 1e-4}
HOST_INDICES = {"tensor_split"}  # torch itself wants the indices of these on the host, whatever the device


@dataclass(frozen=True, slots=True)
class Check:
    """One operator, one dtype, one direction. `kind` is `passed`, `refused` (by a rule of the fixed list), `failed` or
    `left out` (no sample runs on the host); `reason` is empty for a passed one."""

    operator: str
    dtype: str
    direction: str
    kind: str
    reason: str = ""
    detail: str = ""

    def line(self) -> str:
        return f"{self.operator:44} {self.dtype:8} {self.direction:8} {self.kind}: {self.detail}\n"


def main() -> int:
    """Sweep, and print what did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".relay/device"), help="keeps built device libraries")
    parser.add_argument("--samples", type=int, default=20, help="most samples of an operator (default 20)")
    parser.add_argument("--only", default="", help="operators whose name contains this text")
    parser.add_argument("--dtype", nargs="+", default=["float32", "float16"], help="names of torch dtypes")
    wanted = parser.parse_args()
    os.environ["SPYRE_LIBRARY"] = str(ensure_library(wanted.cache.resolve()))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    checks: list[Check] = []
    for check in _sweep(wanted.only, wanted.dtype, wanted.samples):
        checks.append(check)
        if check.kind not in ("passed", "left out"):
            sys.stdout.write(check.line())
            sys.stdout.flush()
    sys.stdout.write(summary(checks))
    return 1 if any(check.kind == "failed" for check in checks) else 0


def summary(checks: Sequence[Check]) -> str:
    """Counts for each dtype, and the checks that did not pass by reason, most frequent first."""
    lines = []
    for dtype in dict.fromkeys(check.dtype for check in checks):
        kinds = Counter(check.kind for check in checks if check.dtype == dtype)
        ran = kinds.total() - kinds["left out"]
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        lines.append(f"{dtype}: {ran} checks ran, {kinds['passed'] / max(ran, 1):.2%} passed ({counts})")
    reasons = Counter((check.kind, check.reason) for check in checks if check.kind != "passed")
    lines += [f"{count:5} {kind}: {reason}" for (kind, reason), count in reasons.most_common()]
    return "\n".join(lines) + "\n"


def _sweep(part_of_name: str, dtypes: Sequence[str], most_samples: int) -> Iterator[Check]:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    for operator, name in itertools.product(op_db, dtypes):
        dtype = getattr(torch, name)
        if part_of_name not in operator.formatted_name or not operator.supports_dtype(dtype, "cpu"):
            continue
        for gradients in (False, True):
            if not gradients or dtype in operator.supported_backward_dtypes("cpu"):
                direction = "backward" if gradients else "forward"
                kind, reason, detail = _try_operator(operator, dtype, most_samples, gradients)
                yield Check(operator.formatted_name, name, direction, kind, reason, detail)


def _try_operator(operator: Any, dtype: Any, most_samples: int, gradients: bool) -> tuple[str, str, str]:
    """Kind, reason and detail of a check. Whatever an operator raises is its verdict."""
    import torch

    torch.manual_seed(0)
    absolute = ABSOLUTE_TOLERANCE.get(operator.name)
    tolerance = {} if absolute is None or dtype is not torch.float32 else {"atol": absolute, "rtol": 1e-4}
    ran = 0
    samples = operator.sample_inputs("cpu", dtype, requires_grad=gradients)
    for number, sample in enumerate(itertools.islice(samples, most_samples)):
        try:
            expected = _run(operator, sample, "cpu", gradients)
        except Exception:  # noqa: BLE001, S112 - not the device's fault, whatever it is
            continue
        ran += 1
        try:
            _compare(_run(operator, sample, "spyre", gradients), expected, tolerance)
        except Exception as error:  # noqa: BLE001 - the sweep goes on, whatever it is
            text = " ".join(str(error).split())
            rule = rule_in(text)
            detail = f"sample {number}: {type(error).__name__}: {text[:200]}"
            return ("refused", rule, detail) if rule else ("failed", alike(f"{type(error).__name__}: {text}"), detail)
    return ("passed", "", "") if ran else ("left out", "no sample runs on the host", "")


def _run(operator: Any, sample: Any, device: str, gradients: bool) -> tuple[list[Any], list[Any]]:
    """Outputs and gradients of one sample on a device, all flattened."""
    import torch
    from torch.utils._pytree import tree_leaves

    inputs: list[Any] = []

    def move(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or (operator.name in HOST_INDICES and value.dtype == torch.int64):
            return value
        inputs.append(value.detach().to(device, copy=True).requires_grad_(value.requires_grad))
        return inputs[-1]

    moved = sample.transform(move)
    if "device" in moved.kwargs:
        moved.kwargs["device"] = device
    arguments = [
        device if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu") else value
        for value in moved.args
    ]
    torch.manual_seed(1)
    outputs = tree_leaves(operator(moved.input, *arguments, **moved.kwargs))
    if operator.name in UNINITIALISED:
        outputs = [torch.zeros_like(output) for output in outputs]
    roots = [output for output in outputs if isinstance(output, torch.Tensor) and output.requires_grad]
    if gradients and roots:
        sum(output.abs().sum() for output in roots).backward()
    return outputs, [tensor.grad for tensor in inputs]


def _compare(
    actual: tuple[list[Any], list[Any]], expected: tuple[list[Any], list[Any]], tolerance: dict[str, float]
) -> None:
    import torch

    for ours, theirs in zip(itertools.chain(*actual), itertools.chain(*expected), strict=True):
        if not isinstance(theirs, torch.Tensor):
            torch.testing.assert_close(ours, theirs, equal_nan=True)
            continue
        if ours.device.type != "spyre" or ours.stride() != theirs.stride():
            raise AssertionError(f"on {ours.device} with strides {ours.stride()}, not {theirs.stride()}")
        torch.testing.assert_close(ours.cpu(), theirs, equal_nan=True, **tolerance)


if __name__ == "__main__":
    sys.exit(main())
