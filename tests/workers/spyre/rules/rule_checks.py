"""Each rule of the profile spyre-2026-06, by what breaks it. Run in a process that has this profile."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable

import pytest
import torch

pytestmark = pytest.mark.filterwarnings("ignore:spyre. int64 is stored as int32")  # said once a process

BROKEN: dict[str, tuple[str, Callable[[], object]]] = {
    "operator": ("operator-missing", lambda: halves().flip(0)),
    "operator of a test's own": ("operator-missing", lambda: torch.ops.aten.nonzero(halves())),
    "fused cell": ("operator-missing", lambda: torch.nn.LSTMCell(2, 2).half().to("spyre")(halves())),
    "double": ("dtype-storage", lambda: torch.empty(2, dtype=torch.float64, device="spyre")),
    "complex": ("dtype-storage", lambda: torch.ones(2, dtype=torch.complex64).to("spyre")),
    "conversion to double": ("dtype-storage", lambda: halves().to(torch.float64)),
    "asking for double": ("dtype-storage", lambda: halves().sum(dtype=torch.float64)),
    "adding int64": ("dtype-compute", lambda: torch.ones(2, dtype=torch.int64, device="spyre") + 1),
    "multiplying float32 matrices": ("dtype-compute", lambda: torch.ones(2, 2, device="spyre").mm(halves().float())),
    "seven dimensions": ("rank", lambda: torch.empty([1] * 7, device="spyre")),
    "seven dimensions by a view": ("rank", lambda: halves().view([1] * 5 + [2, 2])),
    "channels last": (
        "memory-format",
        lambda: torch.empty(1, 2, 3, 4, device="spyre", memory_format=torch.channels_last),
    ),
    "sparse": ("sparse-layout", lambda: torch.empty(2, 2, device="spyre", layout=torch.sparse_coo)),
    "offset": ("generator-offset", lambda: torch.Generator("spyre").get_offset()),
}


def halves() -> torch.Tensor:
    return torch.ones(2, 2, dtype=torch.float16, device="spyre")


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_named_with_its_evidence(case: str) -> None:
    """The error is the one that a dispatcher raises, and says rule, reason, profile and evidence."""
    rule, breaking = BROKEN[case]
    with pytest.raises(NotImplementedError) as raised:
        breaking()
    pattern = rf"^spyre: unsupported: {rule}: [^\n]+ \(profile spyre-2026-06: \S[^\n]*\)"
    assert re.match(pattern, str(raised.value)), raised.value


def test_memory_ends_at_the_capacity_of_a_card() -> None:
    """More than 128 GB is refused as running out of memory, and nothing stays charged."""
    held = torch.spyre.memory_allocated()
    with pytest.raises(torch.OutOfMemoryError, match=r"spyre: unsupported: capacity: .*128 GB a card"):
        torch.empty(2**37 + 1, dtype=torch.int8, device="spyre")
    assert torch.spyre.memory_allocated() == held


def test_a_refused_call_changes_nothing() -> None:
    """The check comes before the kernel."""
    numbers = torch.ones(2, dtype=torch.int32, device="spyre")
    with pytest.raises(NotImplementedError, match="dtype-compute"):
        numbers.add_(1)
    assert numbers.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_listed_operators_work_on_listed_dtypes(dtype: torch.dtype) -> None:
    """Also in place and with `out=`, as torch builds both from what the device has."""
    one = torch.ones(2, 2, dtype=dtype, device="spyre")
    total = (one + one).mul_(2).sub(1)
    torch.add(one, total, out=total)
    assert total.tolist() == [[4, 4], [4, 4]]
    assert total.sum().item() == 16
    assert total.t().contiguous().view(4).unfold(0, 2, 1).shape == (3, 2)


def test_operators_over_the_host_take_every_dtype_that_lives_here() -> None:
    """cumsum is a fallback of torch-spyre, so int64 is fine."""
    assert torch.tensor([1, 2, 3], device="spyre").cumsum(0).tolist() == [1, 3, 6]


def test_an_embedding_does_not_ask_for_what_the_device_lacks() -> None:
    """torch's composite of it asks for `index_select`, which is not on the list; torch-spyre has it whole."""
    table = torch.arange(6, dtype=torch.float16).view(3, 2).to("spyre")
    torch.spyre.take_operators()
    found = torch.nn.functional.embedding(torch.tensor([2, 0], device="spyre"), table)
    assert found.tolist() == [[4, 5], [0, 1]]
    assert "aten::embedding" in torch.spyre.take_operators()


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (1 + 2**-9, 1 + 2**-9),  # nine bits of fraction fit
        (1 + 2**-10, 1.0),  # a tie goes to even: down
        (1 + 3 * 2**-10, 1 + 2 * 2**-9),  # a tie goes to even: up
        (-(1 + 3 * 2**-10), -(1 + 2 * 2**-9)),
        (65504.0, 65536.0),  # rounds up beyond what fp16 can say
        (2.0**-24, 2.0**-24),
        (0.0, 0.0),
    ],
)
def test_halves_are_stored_with_nine_bits_of_fraction(written: float, stored: float) -> None:
    """On the way to the device; the host side rounds once more when it reads, so 65536 reads as infinity."""
    read = torch.tensor(written, dtype=torch.float16).to("spyre").item()
    assert read == torch.tensor(stored, dtype=torch.float16).item()


def test_results_are_stored_with_nine_bits_of_fraction() -> None:
    """After an operator as after a copy; a view of the result sees the same."""
    one = torch.ones(2, 1, dtype=torch.float16, device="spyre")
    small = torch.full((2, 1), 2.0**-10, dtype=torch.float16).to("spyre")
    assert (one + small).tolist() == [[1], [1]]
    assert torch.ones(1, dtype=torch.float16).add(2.0**-10).item() != 1
    one.add_(small)
    assert one.view(2).tolist() == [1, 1]


def test_bfloat16_has_the_range_of_six_bits_of_exponent() -> None:
    """Too large is infinite, too small is zero, not-a-number stays."""
    values = torch.tensor([2.0**40, -(2.0**40), 2.0**-40, 2.0**20, float("nan")], dtype=torch.bfloat16).to("spyre")
    assert values.tolist()[:4] == [float("inf"), float("-inf"), 0, 2.0**20]
    assert math.isnan(values[4].item())


def test_strided_targets_are_rounded_in_place() -> None:
    """A copy into every second element leaves the others alone."""
    target = torch.zeros(4, dtype=torch.float16, device="spyre")
    target[::2].copy_(torch.full((2,), 1 + 2**-10, dtype=torch.float16))
    assert target.tolist() == [1, 0, 1, 0]


def test_int64_keeps_its_lower_32_bits() -> None:
    """As in a narrowing store; torch goes on to call it int64."""
    numbers = torch.tensor([2**31, -(2**40) + 3, 7]).to("spyre")
    assert numbers.dtype == torch.int64
    assert numbers.tolist() == [-(2**31), 3, 7]


def test_the_rest_of_a_stick_is_poisoned() -> None:
    """Whoever reads past the end of a tensor finds not-a-number, in fresh memory as in results."""
    for tensor in (torch.zeros(3, device="spyre"), torch.zeros(3, device="spyre") + 1):
        beyond = (ctypes.c_float * 29).from_address(tensor.data_ptr() + 3 * 4)
        assert all(math.isnan(value) for value in beyond)


def test_the_capability_leaves_out_what_the_device_does_not_advertise() -> None:
    """int32 and int64 can live there and are not advertised, as in torch-spyre."""
    dtypes = torch.accelerator.get_device_capability()["supported_dtypes"]
    assert {torch.float16, torch.bfloat16, torch.bool, torch.int8} <= dtypes
    assert not {torch.int32, torch.int64, torch.float64, torch.complex64} & dtypes


def test_printing_and_comparing_are_no_work_of_the_device() -> None:
    """Both need operators that the device lacks; neither fails, and neither is reported."""
    numbers = torch.arange(4, dtype=torch.int32, device="spyre")
    torch.spyre.take_operators()
    assert "device='spyre:0'" in repr(numbers)
    torch.testing.assert_close(numbers, torch.arange(4, dtype=torch.int32, device="spyre"))
    assert set(torch.spyre.take_operators()) <= {"aten::empty.memory_format", "aten::arange.start_out"}
    with pytest.raises(AssertionError, match="not equal"):
        torch.testing.assert_close(numbers, torch.zeros(4, dtype=torch.int32, device="spyre"))
    with pytest.raises(NotImplementedError, match="operator-missing"):
        torch.nonzero(numbers)  # outside of both the rules hold


def test_kernels_are_accounted_for() -> None:
    """Bytes are whole sticks, divided among at most 32 cores; the largest call counts."""
    torch.spyre.take_kernels()
    small, large = torch.ones(1, device="spyre"), torch.ones(1024, device="spyre")
    small + small
    large * 2 + large
    adding = next(kernel for kernel in torch.spyre.take_kernels() if kernel.operator == "aten::add.out")
    assert (adding.calls, adding.cores) == (2, 32)
    assert adding.argument_bytes == 3 * 4096
    assert adding.span_bytes_per_core == 128
    assert torch.spyre.take_kernels() == []


def test_the_image_of_a_tensor_shows_the_padding_of_its_rows() -> None:
    """Each row ends in not-a-number up to a whole stick, and the elements lie where the layout says."""
    rows = torch.arange(2 * 3 * 70, dtype=torch.int32).reshape(2, 3, 70).to(torch.float16).to("spyre")
    image = torch.spyre.device_image(rows)
    layout = torch.spyre.device_layout(rows.shape, rows.dtype)
    assert image.shape == layout.device_size == (3, 2, 2, 64)
    assert torch.isnan(image[:, 1, :, 6:]).all()
    assert not torch.isnan(image[:, 0]).any()
    assert image[2, 1, 1, 5].item() == rows.cpu()[1, 2, 69].item()
    assert torch.spyre.device_image(torch.ones((), device="spyre")).shape == (1, 32)
