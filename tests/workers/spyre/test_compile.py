"""`torch.compile` on the device: the same results as on the host, forward and backward, with three backends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.spyre.device_process import Run

pytestmark = pytest.mark.long

COMPARE = """
import sys, torch
from torch.nn import functional as F

FUNCTIONS = {
    "pointwise": (lambda a, b: (a * b).sin() + a.exp(), (17, 33), (33,)),
    "reductions": (lambda a: torch.softmax(a, -1).std(0) + F.layer_norm(a, (33,)).relu().mean(), (17, 33)),
    "matrix product": (lambda a, b: F.gelu(a @ b).sum(0) + torch.arange(5, device=a.device), (8, 16), (16, 5)),
    "indices": (lambda a: a[torch.tensor([2, 0], device=a.device)].cumsum(0).t().contiguous(), (5, 4)),
    "joined": (lambda a, b: torch.cat([a, b], 1).flip(0), (5, 4), (5, 2)),
    "convolution": (lambda a, w: F.max_pool2d(F.conv2d(a, w, padding=1).relu(), 2), (1, 3, 8, 8), (4, 3, 3, 3)),
}


def outcome(function, shapes, device):
    torch.manual_seed(0)
    inputs = [torch.randn(shape).to(device).requires_grad_() for shape in shapes]
    result = function(*inputs)
    assert result.device == torch.device(device), result.device
    result.sum().backward()
    return [result.detach().cpu(), *(entered.grad.cpu() for entered in inputs)]


for name in sys.argv[2:]:
    function, *shapes = FUNCTIONS[name]
    compiled = torch.compile(function, backend=sys.argv[1], fullgraph=True)
    torch.testing.assert_close(outcome(compiled, shapes, "spyre:1"), outcome(function, shapes, "cpu"))
    print(name)
"""
ALL = ("pointwise", "reductions", "matrix product", "indices", "joined", "convolution")


@pytest.mark.parametrize(
    ("backend", "functions"),
    [("eager", ALL), ("aot_eager", ALL), ("inductor", ("reductions", "matrix product", "joined"))],
)
def test_compiled_functions_match_the_host(
    run_python: Run, device_library: Path, tmp_path: Path, backend: str, functions: tuple[str, ...]
) -> None:
    """Results and gradients, on a device that is not the current one. Each kernel of inductor costs a g++ run."""
    script = tmp_path / "compare.py"
    script.write_text(COMPARE)
    done = run_python(
        *(str(script), backend, *functions),
        SPYRE_LIBRARY=str(device_library),
        SPYRE_DEVICE_COUNT="2",
        TORCHINDUCTOR_FX_GRAPH_CACHE="0",  # a graph that an earlier version of ours compiled would prove nothing
    )
    assert (done.returncode, done.stdout.splitlines()) == (0, list(functions)), done.stderr[-3000:]


def test_the_compiler_is_imported_only_when_asked_for(run_python: Run, device_library: Path) -> None:
    """It would add seconds to every start."""
    code = "import sys, torch; print([n for n in ('torch._inductor', 'torch._dynamo') if n in sys.modules])"
    for library in ("", str(device_library)):
        done = run_python("-c", code, SPYRE_LIBRARY=library)
        assert done.stdout == "[]\n", done.stderr


def test_compiled_kernels_are_refused_where_rules_would_be_missed(run_python: Run, device_library: Path) -> None:
    """A strict profile refuses by name, in one sentence; a backend that runs operators works there as well."""
    code = (
        "import torch; values = torch.ones(4, dtype=torch.float16, device='spyre')\n"
        "print(torch.compile(lambda a: a + a, backend='aot_eager')(values).cpu().tolist())\n"
        "torch.compile(lambda a: a + a)(values)\n"
    )
    done = run_python("-c", code, SPYRE_LIBRARY=str(device_library), SPYRE_PROFILE="spyre-2026-06")
    assert done.stdout == "[2.0, 2.0, 2.0, 2.0]\n", done.stderr
    (refusal,) = [line for line in done.stderr.splitlines() if "spyre: unsupported: inductor: " in line]
    assert "spyre-2026-06" in refusal
