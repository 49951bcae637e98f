"""The surface that programs use on every accelerator: `torch.accelerator` whole, and the device's own module."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

BYTES = 4096


def _held_tensor_is_counted(count: Callable[[], int]) -> bool:
    before = count()
    held = torch.empty(BYTES, dtype=torch.uint8, device="spyre")
    return bool(count() == before + held.nbytes)


def _peak_is_remembered(peak: Callable[[], int]) -> bool:
    torch.accelerator.reset_peak_memory_stats()
    before = peak()
    torch.empty(BYTES, dtype=torch.uint8, device="spyre")
    return bool(peak() >= before + BYTES)


def _inside(index: int) -> bool:
    with torch.accelerator.device_index(index):
        return bool(torch.empty(1, device="spyre").device.index == index)


def _set_and_back(change: Callable[[int], None]) -> bool:
    change(1)
    changed = torch.accelerator.current_device_index()
    change(0)
    return bool(changed == 1 and torch.accelerator.current_device_index() == 0)


def _stream_is_set() -> bool:
    before, fresh = torch.accelerator.current_stream(), torch.Stream("spyre")
    torch.accelerator.set_stream(fresh)
    changed = bool(torch.accelerator.current_stream() == fresh)
    torch.accelerator.set_stream(before)
    return changed


def _is_refused(call: Callable[[], object], words: str) -> bool:
    with pytest.raises(RuntimeError, match=words):
        call()
    return True


def _counters_start_again() -> bool:
    torch.empty(BYTES, device="spyre")
    torch.accelerator.reset_accumulated_memory_stats()
    return bool(torch.accelerator.memory_stats()["allocated_bytes.all.allocated"] == 0)


def _peak_starts_again() -> bool:
    torch.empty(BYTES, device="spyre")
    torch.accelerator.reset_peak_memory_stats()
    return bool(torch.accelerator.max_memory_allocated() == torch.accelerator.memory_allocated())


def _free_shrinks() -> bool:
    free, total = torch.accelerator.get_memory_info()
    held = torch.empty(BYTES, dtype=torch.uint8, device="spyre")
    after, same = torch.accelerator.get_memory_info()
    return bool(same == total and 0 < after == free - held.nbytes)


# What each public name of torch.accelerator does on the device.
SURFACE: dict[str, Callable[[], bool]] = {
    "Graph": lambda: _is_refused(torch.accelerator.Graph, "not supported on device type: spyre"),
    "current_accelerator": lambda: torch.accelerator.current_accelerator() == torch.device("spyre"),
    "current_device_idx": lambda: torch.accelerator.current_device_idx() == 0,
    "current_device_index": lambda: torch.accelerator.current_device_index() == 0,
    "current_stream": lambda: torch.accelerator.current_stream(1).device == torch.device("spyre:1"),
    "device_count": lambda: torch.accelerator.device_count() == 2,
    "device_index": lambda: _inside(1) and _inside(0),
    "empty_cache": lambda: torch.accelerator.empty_cache() is None,
    "empty_host_cache": lambda: torch.accelerator.empty_host_cache() is None,
    "get_device_capability": lambda: torch.float16 in torch.accelerator.get_device_capability()["supported_dtypes"],
    "get_memory_info": _free_shrinks,
    "is_available": lambda: torch.accelerator.is_available() is True,
    "max_memory_allocated": lambda: _peak_is_remembered(torch.accelerator.max_memory_allocated),
    "max_memory_reserved": lambda: _peak_is_remembered(torch.accelerator.max_memory_reserved),
    "memory_allocated": lambda: _held_tensor_is_counted(torch.accelerator.memory_allocated),
    "memory_reserved": lambda: _held_tensor_is_counted(torch.accelerator.memory_reserved),
    "memory_stats": lambda: _held_tensor_is_counted(
        lambda: int(torch.accelerator.memory_stats()["allocated_bytes.all.current"])
    ),
    "reset_accumulated_memory_stats": _counters_start_again,
    "reset_peak_memory_stats": _peak_starts_again,
    "set_device_idx": lambda: _set_and_back(torch.accelerator.set_device_idx),
    "set_device_index": lambda: _set_and_back(torch.accelerator.set_device_index),
    "set_stream": _stream_is_set,
    "synchronize": lambda: (
        torch.accelerator.synchronize("spyre:1") is None
        and _is_refused(lambda: torch.accelerator.synchronize(7), "no device 7, only 2")
    ),
}


@pytest.mark.parametrize("name", torch.accelerator.__all__)
@pytest.mark.filterwarnings("ignore:Use `")
def test_every_public_name_of_torch_accelerator_works_or_refuses(name: str) -> None:
    """The names come from the installed torch: a new one without a line above fails here."""
    assert SURFACE[name]()


def test_the_device_module_is_found() -> None:
    """By name, by device, and as the current accelerator's."""
    assert torch.get_device_module("spyre") is torch.spyre
    assert torch.get_device_module(torch.device("spyre:1")) is torch.spyre
    assert torch.get_device_module() is torch.spyre


def test_devices_tell_their_properties() -> None:
    """Name, size and dtypes; peers are all devices that exist."""
    properties = torch.spyre.get_device_properties(1)
    assert torch.spyre.get_device_name() == properties.name
    assert torch.spyre.mem_get_info(1)[1] == properties.total_memory > 2**28
    assert torch.bfloat16 in torch.spyre.get_device_capability(0)["supported_dtypes"]
    assert torch.spyre.can_device_access_peer(0, 1)
    assert not torch.spyre.can_device_access_peer(0, 2)


def test_streams_of_the_module() -> None:
    """A context makes a stream the current one; outside it is the default one."""
    default = torch.spyre.default_stream(0)
    assert torch.spyre.current_stream(0) == default
    with torch.spyre.stream(torch.Stream("spyre:0")) as fresh:
        assert torch.spyre.current_stream(0) == fresh != default
    with torch.spyre.stream(None):
        assert torch.spyre.current_stream(0) == default


def test_the_device_of_a_tensor_becomes_the_current_one() -> None:
    """A host tensor changes nothing."""
    with torch.spyre.device_of(torch.empty(1, device="spyre:1")):
        assert torch.spyre.current_device() == 1
        with torch.spyre.device_of(torch.empty(1)):
            assert torch.spyre.current_device() == 1
    assert torch.spyre.current_device() == 0


def test_what_the_module_does_not_have_is_an_attribute_error() -> None:
    """As of every module, so that `hasattr` can be asked."""
    with pytest.raises(AttributeError, match="no_such_name"):
        torch.spyre.no_such_name  # noqa: B018 - the access is the claim
    assert not hasattr(torch.spyre, "nccl")


def test_a_fresh_seed_is_the_same_on_all_devices() -> None:
    """`seed_all` seeds them alike."""
    torch.spyre.seed_all()
    first, second = (torch.rand(4, device=f"spyre:{index}").cpu() for index in range(2))
    assert first.equal(second)
    torch.spyre.manual_seed_all(0)


def test_pinned_memory_comes_and_goes() -> None:
    """What is pinned is recognised until it dies, however often; emptying the cache frees nothing that is in use."""
    held = [torch.arange(size).pin_memory() for size in range(1, 9)]
    torch.accelerator.empty_host_cache()
    assert all(tensor.is_pinned() for tensor in held)
    assert [int(tensor[-1]) for tensor in held] == list(range(8))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_data_loader_pins_its_batches(workers: int) -> None:
    """In the process itself and from a child."""
    dataset = torch.utils.data.TensorDataset(torch.arange(6.0))
    loader = torch.utils.data.DataLoader(dataset, batch_size=2, pin_memory=True, num_workers=workers)
    assert [batch.is_pinned() for (batch,) in loader] == [True] * 3
