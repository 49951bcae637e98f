"""Every operator of torch's own database on the device, forward and backward, against the host.

Takes minutes: `python -m tests.benchmarks.bench_operators`. A check passes when all samples
agree in values, dtype, strides and gradients, and all results are on the device. The device draws the host's numbers
for the same seed, so random operators are compared like all others. Samples that fail on the host are left out.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import os
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from workers.spyre.build import ensure_library

REFUSAL = "spyre: unsupported: "
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# The host has a fused kernel for it, other devices take the plain formula, which rounds elsewhere.
ABSOLUTE_TOLERANCE = {"nn.functional.scaled_dot_product_attention": 1e-4}
HOST_INDICES = {"tensor_split"}  # torch itself wants the indices of these on the host, whatever the device


def main() -> int:
    """Sweep and print one line per operator that did not pass, then the counts. Exit code 1 when one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".relay/device"), help="keeps built device libraries")
    parser.add_argument("--samples", type=int, default=20, help="most samples of an operator (default 20)")
    parser.add_argument("--only", default="", help="operators whose name contains this text")
    wanted = parser.parse_args()
    os.environ["SPYRE_LIBRARY"] = str(ensure_library(wanted.cache.resolve()))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for operator in _operators(wanted.only):
        for gradients in (False, True)[: 1 + bool(operator.supports_autograd)]:
            verdict = _try_operator(operator, wanted.samples, gradients)
            kind = verdict.partition(":")[0]
            counts[kind] += 1
            if kind != "passed":
                sys.stdout.write(f"{operator.formatted_name:40} {'backward' if gradients else 'forward':8} {verdict}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{counts.total()} checks: {dict(counts)}\n")
    return 1 if counts["failed"] else 0


def _operators(part_of_name: str) -> list[Any]:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    return [op for op in op_db if part_of_name in op.formatted_name and op.supports_dtype(torch.float32, "cpu")]


def _try_operator(operator: Any, most_samples: int, gradients: bool) -> str:
    """`passed`, `refused: why` or `failed: why`. Whatever an operator raises is its verdict."""
    import torch

    torch.manual_seed(0)
    absolute = ABSOLUTE_TOLERANCE.get(operator.name)
    tolerance = {} if absolute is None else {"atol": absolute, "rtol": 1e-4}
    samples = operator.sample_inputs("cpu", torch.float32, requires_grad=gradients)
    for number, sample in enumerate(itertools.islice(samples, most_samples)):
        try:
            expected = _run(operator, sample, "cpu", gradients)
        except Exception:  # noqa: BLE001, S112 - not the device's fault, whatever it is
            continue
        try:
            _compare(_run(operator, sample, "spyre", gradients), expected, tolerance)
        except Exception as error:  # noqa: BLE001 - the sweep goes on, whatever it is
            text = " ".join(str(error).split())
            kind = "refused" if text.startswith(REFUSAL) else "failed"
            return f"{kind}: sample {number}: {type(error).__name__}: {text[:200]}"
    return "passed"


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
