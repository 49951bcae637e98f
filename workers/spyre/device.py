"""The module `torch.spyre`: what torch and test code expect of an accelerator's own module. A device that was built
under another name has it there.

Devices, streams, events and memory are torch's generic accelerator functions under the usual names; only random numbers
need something of ours, since torch has no Python name for the default generator of an out-of-tree device.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from workers.spyre import host_work as _host_work
from workers.spyre import image, layout, observed
from workers.spyre.naming import device_name

DeviceLike = Any  # int, str, torch.device or None, as everywhere in torch

Stream = torch.Stream
Event = torch.Event

# What only this device has, see the modules.
host_work = _host_work.host_work
device_layout = layout.device_layout
device_image = image.device_image
take_operators = observed.take_operators
take_kernels = observed.take_kernels


@dataclass(frozen=True, slots=True)
class DeviceProperties:
    """What a device says of itself. `total_memory` is in bytes."""

    name: str
    total_memory: int


# --- devices -------------------------------------------------------------------------------------------------------


def is_available() -> bool:
    """True: the library is loaded, or this module would not exist."""
    return True


def is_initialized() -> bool:
    """True: there is nothing to initialise lazily."""
    return True


def init() -> None:
    """There is nothing to initialise; kept because programs call it on every accelerator."""


def device_count() -> int:
    """Number of emulated devices, from `SPYRE_DEVICE_COUNT`."""
    count: int = torch._C._accelerator_hooks_device_count()  # torch.accelerator asks this module in turn
    return count


def current_device() -> int:
    """Index of this thread's current device."""
    index: int = torch.accelerator.current_device_index()
    return index


def set_device(device: DeviceLike) -> None:
    """Make a device this thread's current one."""
    torch.accelerator.set_device_index(_index(device))


class device(torch.accelerator.device_index):  # type: ignore[misc]  # noqa: N801 - torch's name, torch has no types here
    """Context manager that makes a device the current one; `None` changes nothing."""

    def __init__(self, device: DeviceLike) -> None:
        super().__init__(None if device is None else _index(device))


class device_of(device):  # noqa: N801 - torch's name
    """Context manager that makes the device of a tensor the current one; a tensor elsewhere changes nothing."""

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor.device if tensor.device.type == device_name() else None)


def get_device_name(device: DeviceLike = None) -> str:
    """What the device is called."""
    return get_device_properties(device).name


def get_device_properties(device: DeviceLike = None) -> DeviceProperties:
    """Name and size of a device."""
    return DeviceProperties("IBM Spyre (emulated)", mem_get_info(device)[1])


def get_device_capability(device: DeviceLike = None) -> dict[str, Any]:
    """The dtypes that a device knows, in the form of `torch.accelerator.get_device_capability`."""
    return dict(torch.accelerator.get_device_capability(_index(device)))


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    """True for two devices that exist: all of them lie in one memory."""
    return max(_index(device), _index(peer_device)) < device_count()


def _index(device: DeviceLike) -> int:
    index: int = torch.accelerator._utils._get_device_index(device, optional=True)
    return index


# --- streams and waiting -------------------------------------------------------------------------------------------


def synchronize(device: DeviceLike = None) -> None:
    """Wait for all work of a device. Every call has finished when it returns, so only the device is checked."""
    torch.accelerator.synchronize(_index(device))


def current_stream(device: DeviceLike = None) -> Any:
    """This thread's current stream on a device."""
    return torch.accelerator.current_stream(_index(device))


def default_stream(device: DeviceLike = None) -> Any:
    """The stream that every thread starts with on a device."""
    current = current_stream(device)
    return torch.Stream(stream_id=0, device_index=current.device_index, device_type=current.device_type)


def stream(stream: Any) -> AbstractContextManager[Any]:
    """Context manager that makes a stream the current one on its device; `None` changes nothing."""
    return nullcontext() if stream is None else stream


def set_stream(stream: Any) -> None:
    """Make a stream this thread's current one on its device."""
    torch.accelerator.set_stream(stream)


# --- memory, in bytes ----------------------------------------------------------------------------------------------


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes that tensors hold on a device, in whole sticks of 128 bytes."""
    held: int = torch.accelerator.memory_allocated(_index(device))
    return held


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Largest value of `memory_allocated` since the start or the last reset."""
    peak: int = torch.accelerator.max_memory_allocated(_index(device))
    return peak


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Let `max_memory_allocated` start again from what is held now."""
    torch.accelerator.reset_peak_memory_stats(_index(device))


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """All counters of a device, under the names of `torch.accelerator.memory_stats`."""
    return dict(torch.accelerator.memory_stats(_index(device)))


def memory_reserved(device: DeviceLike = None) -> int:
    """The same as `memory_allocated`, since nothing is held back for later."""
    held: int = torch.accelerator.memory_reserved(_index(device))
    return held


def max_memory_reserved(device: DeviceLike = None) -> int:
    """Largest value of `memory_reserved` since the start or the last reset."""
    peak: int = torch.accelerator.max_memory_reserved(_index(device))
    return peak


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Set the counters of `memory_stats` that only grow to zero."""
    torch.accelerator.reset_accumulated_memory_stats(_index(device))


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Free and total bytes of a device."""
    free, total = torch.accelerator.get_memory_info(_index(device))
    return free, total


def empty_host_cache() -> None:
    """Nothing is cached of pinned memory either."""
    torch.accelerator.empty_host_cache()


def empty_cache() -> None:
    """Nothing is cached; kept because programs call it on every accelerator."""
    torch.accelerator.empty_cache()


# --- random numbers ------------------------------------------------------------------------------------------------


def _default_generator(device: DeviceLike = None) -> Any:
    return torch.ops.spyre.default_generator(_index(device))


default_generators = tuple(_default_generator(index) for index in range(device_count()))


def manual_seed(seed: int) -> None:
    """Seed the default generator of the current device."""
    _default_generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed the default generators of all devices; `torch.manual_seed` calls this."""
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator of the current device from the system's randomness and return the seed."""
    fresh: int = _default_generator().seed()
    return fresh


def seed_all() -> None:
    """Seed the default generators of all devices with one number from the system's randomness."""
    manual_seed_all(seed())


def initial_seed() -> int:
    """The seed that the default generator of the current device started from."""
    first: int = _default_generator().initial_seed()
    return first


def get_rng_state(device: DeviceLike = None) -> Any:
    """State of a device's default generator, a CPU tensor of bytes."""
    return _default_generator(device).get_state()


def set_rng_state(new_state: Any, device: DeviceLike = None) -> None:
    """Put a state from `get_rng_state` back."""
    _default_generator(device).set_state(new_state)


def get_rng_state_all() -> list[Any]:
    """States of all default generators."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state_all(new_states: list[Any]) -> None:
    """Put states from `get_rng_state_all` back."""
    for generator, state in zip(default_generators, new_states, strict=True):
        generator.set_state(state)


def _is_in_bad_fork() -> bool:
    """Memory and state are plain process memory, so a forked child may go on."""
    return False


# --- mixed precision -----------------------------------------------------------------------------------------------


def get_amp_supported_dtype() -> list[Any]:
    """Dtypes that `torch.autocast("spyre")` accepts."""
    return [torch.float16, torch.bfloat16]


def is_bf16_supported() -> bool:
    """True: every CPU kernel for bfloat16 serves the device."""
    return True


# --- compiling -----------------------------------------------------------------------------------------------------

_INDUCTOR = frozenset({"Scheduling", "PythonWrapperCodegen", "CppWrapperCodegen", "WrapperFxCodegen"})


def __getattr__(name: str) -> Any:
    """Code generation of `torch.compile`, imported when the compiler asks for it, which takes seconds."""
    if name not in _INDUCTOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from workers.spyre import inductor  # noqa: PLC0415 - heavy, and imports what is not there yet at this time

    return getattr(inductor, name)
