"""The device's layout, held to the published examples and to what a layout must be."""

from __future__ import annotations

import itertools

import pytest

from workers.spyre.layout import device_layout


@pytest.mark.parametrize(
    ("shape", "device_size", "stride_map"),
    [
        ((1024, 256), (4, 1024, 64), (64, 256, 1)),  # RFC 0047
        ((128, 256, 512), (256, 8, 128, 64), (512, 64, 131072, 1)),  # RFC 0047
        ((50, 10, 200), (10, 4, 50, 64), (200, 64, 2000, 1)),  # tensors_and_layouts.md
        ((5,), (1, 64), (64, 1)),
        ((), (1, 64), (-1, -1)),
        ((1, 7), (1, 1, 64), (64, -1, 1)),
        ((2, 3, 4, 5, 6, 70), (3, 4, 5, 6, 2, 2, 64), (8 * 5 * 6 * 70 // 2, 2100, 420, 70, 64, 25200, 1)),
    ],
)
def test_halves_lie_as_published(
    shape: tuple[int, ...], device_size: tuple[int, ...], stride_map: tuple[int, ...]
) -> None:
    """Size and stride per device dimension."""
    layout = device_layout(shape, "torch.float16")
    assert (layout.device_size, layout.stride_map) == (device_size, stride_map)


@pytest.mark.parametrize(
    ("dtype", "per_stick"), [("float16", 64), ("bool", 64), ("float32", 32), ("int64", 32), ("int8", 128)]
)
def test_a_stick_has_128_bytes_of_the_device_format(dtype: str, per_stick: int) -> None:
    """Padding included, memory is whole sticks."""
    layout = device_layout((3, per_stick + 1), dtype)
    assert layout.device_size == (2, 3, per_stick)
    assert layout.device_bytes == 2 * 3 * 128


@pytest.mark.parametrize("shape", [(3, 100), (2, 3, 65), (2, 2, 3, 64)])
def test_every_element_has_exactly_one_place(shape: tuple[int, ...]) -> None:
    """Walking the device's coordinates with the stride map meets each host element once, the rest is padding."""
    layout = device_layout(shape, "float16")
    met = []
    tiles = len(layout.device_size) - 3 if len(shape) > 1 else 0
    for place in itertools.product(*map(range, layout.device_size)):
        if place[tiles] * 64 + place[-1] < shape[-1]:
            met.append(sum(step * stride for step, stride in zip(place, layout.stride_map, strict=True)))
    count = 1
    for size in shape:
        count *= size
    assert sorted(met) == list(range(count))


@pytest.mark.parametrize(
    ("shape", "dtype", "complaint"),
    [((1,), "float64", "float64"), ((1,) * 7, "float16", "7 dimensions"), ((-1,), "float16", "negative")],
)
def test_what_has_no_layout_is_refused(shape: tuple[int, ...], dtype: str, complaint: str) -> None:
    """With the reason."""
    with pytest.raises(ValueError, match=complaint):
        device_layout(shape, dtype)
