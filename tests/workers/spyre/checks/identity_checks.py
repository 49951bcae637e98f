"""The device is one: it has a name, a count, a current index, streams, events and memory of its own."""

from __future__ import annotations

import pytest
import torch


def test_tensors_say_where_they_live() -> None:
    """Device, repr, `is_spyre` and the module method agree."""
    tensor = torch.ones(2, device="spyre")
    assert (tensor.device.type, tensor.device.index) == ("spyre", 0)
    assert repr(tensor) == "tensor([1., 1.], device='spyre:0')"
    assert tensor.is_spyre
    assert not tensor.cpu().is_spyre
    assert torch.nn.Linear(1, 1).spyre().weight.device == tensor.device


def test_torch_finds_the_accelerator() -> None:
    """The generic accelerator functions answer for this device."""
    assert str(torch.accelerator.current_accelerator()) == "spyre"
    assert torch.accelerator.is_available()
    assert torch.accelerator.device_count() == torch.spyre.device_count() == 2
    torch.accelerator.synchronize()
    torch.spyre.synchronize("spyre:1")


def test_the_current_device_is_used_and_restored() -> None:
    """`device` is a context, `set_device` stays, and a plain "spyre" means the current device."""
    with torch.spyre.device(1):
        assert torch.spyre.current_device() == 1
        assert torch.empty(1, device="spyre").device.index == 1
        assert torch.UntypedStorage(4, device="spyre").device.index == 1
    assert torch.spyre.current_device() == 0
    torch.spyre.set_device("spyre:1")
    assert torch.empty(1, device="spyre").device.index == 1
    torch.spyre.set_device(0)


def test_a_device_that_is_not_there_is_refused() -> None:
    """An index beyond the count names the count and the variable that raises it."""
    with pytest.raises(RuntimeError, match=r"no device 2, only 2 \(set SPYRE_DEVICE_COUNT"):
        torch.empty(1, device="spyre:2")


def test_streams_are_per_device_and_restored() -> None:
    """A stream context changes the current stream and puts the old one back."""
    before = torch.accelerator.current_stream()
    fresh = torch.Stream("spyre:0")
    with fresh:
        assert torch.accelerator.current_stream() == fresh
    assert torch.accelerator.current_stream() == before
    assert fresh.query()


def test_events_measure_time() -> None:
    """Two timed events around work are a positive distance apart, and have always happened."""
    start, end = (torch.Event("spyre", enable_timing=True) for _ in range(2))
    start.record()
    torch.ones(200, 200, device="spyre") @ torch.ones(200, 200, device="spyre")
    end.record()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) > 0


def test_memory_is_counted_in_sticks() -> None:
    """Created tensors and results of kernels count until they die; the peak remembers."""
    held = torch.spyre.memory_allocated()
    torch.spyre.reset_peak_memory_stats()
    created = torch.empty(1, device="spyre")
    result = created + 1
    assert torch.spyre.memory_allocated() == held + 2 * 128
    del created, result
    assert torch.spyre.memory_allocated() == held
    assert torch.spyre.max_memory_allocated() >= held + 2 * 128


def test_memory_is_counted_per_device() -> None:
    """What one device holds is not charged to the other."""
    before = torch.spyre.memory_allocated(0), torch.spyre.memory_allocated(1)
    tensor = torch.zeros(1000, device="spyre:1")
    assert torch.spyre.memory_allocated(0) == before[0]
    assert torch.spyre.memory_allocated(1) >= before[1] + tensor.nbytes


def test_too_much_memory_is_an_error_of_its_own() -> None:
    """An allocation that cannot be met raises torch's out-of-memory error."""
    with pytest.raises(torch.OutOfMemoryError, match="spyre: out of memory"):
        torch.empty(10**15, device="spyre")


def test_host_memory_can_be_pinned() -> None:
    """Pinned memory is recognised, other memory is not."""
    plain = torch.arange(5)
    pinned = plain.pin_memory()
    assert pinned.is_pinned()
    assert pinned[2:].is_pinned()
    assert not plain.is_pinned()
    assert pinned.to("spyre", non_blocking=True).cpu().equal(plain)


def test_tensors_are_handed_on_by_dlpack() -> None:
    """The consumer sees an extension device with the right index, and shares the memory for as long as it needs it."""
    ours = torch.arange(3, device="spyre:1")
    assert ours.__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLExtDev, 1)
    assert torch.nn.Parameter(torch.ones(1, device="spyre")).__dlpack_device__()[1] == 0
    taken = torch.from_dlpack(ours)
    ours.add_(1)
    del ours
    assert taken.device == torch.device("spyre:1")
    assert taken.tolist() == [1, 2, 3]
