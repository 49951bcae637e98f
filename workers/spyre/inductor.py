"""`torch.compile` with the backend `inductor`: C++ kernels for the host, which is where the device's memory lies.

torch asks the device module for these names when it first compiles something, and imports this module through
`workers.spyre.device`; it must not be imported before, since it pulls in the whole of inductor. Compiled kernels are no
operators and no rule of a profile sees them, so a profile that is about them refuses.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch._dynamo.device_interface import CpuInterface, register_interface_for_device
from torch._inductor import config
from torch._inductor.codegen import wrapper
from torch._inductor.codegen.common import register_device_op_overrides
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.codegen.cpp_wrapper_cpu import CppWrapperCpu
from torch._inductor.codegen.cpu_device_op_overrides import CpuDeviceOpOverrides
from torch._inductor.codegen.wrapper_fxir import WrapperFxCodegen
from torch._inductor.virtualized import V

from workers.spyre.naming import device_name
from workers.spyre.profile import PROFILE_VARIABLE, evidence, load_profile, refusal_prefix

_HOST = torch.device("cpu")

__all__ = ["CppWrapperCodegen", "PythonWrapperCodegen", "Scheduling", "WrapperFxCodegen"]

CppWrapperCodegen = CppWrapperCpu


class Scheduling(CppScheduling):  # type: ignore[misc]  # torch has no types here
    """The host's code generator. It chooses instructions by the current device, which must say `cpu` meanwhile."""

    def __init__(self, scheduler: Any) -> None:
        profile = load_profile(os.environ.get(PROFILE_VARIABLE, ""))
        if because := evidence(profile, "inductor"):
            raise NotImplementedError(
                f"{refusal_prefix(device_name())}inductor: "
                f"profile {profile.name} ({because}); use the backend aot_eager"
            )
        super().__init__(scheduler)

    def codegen_node(self, node: Any) -> Any:
        """Generate the loops of one node, or of several that were fused."""
        with V.graph.set_current_device(_HOST):
            return super().codegen_node(node)

    def codegen_template(self, *arguments: Any, **options: Any) -> Any:
        """Generate a kernel from one of inductor's templates."""
        with V.graph.set_current_device(_HOST):
            return super().codegen_template(*arguments, **options)

    def flush(self) -> Any:
        """Write out the kernels collected so far, and their calls."""
        with V.graph.set_current_device(_HOST):
            return super().flush()


class _Allocations:
    """Writes out device tensors. torch's own line leaves out the index, and so means the current device."""

    def make_allocation(self, name: str, device: Any, *arguments: Any, **options: Any) -> str:
        """One line of generated Python that allocates a buffer."""
        line: str = super().make_allocation(name, device, *arguments, **options)  # type: ignore[misc]  # a mixin
        return line.replace(f"device='{device.type}'", f"device='{device}'") if device.type == device_name() else line


class _Subgraph(_Allocations, wrapper.SubgraphPythonWrapperCodegen):  # type: ignore[misc]  # torch has no types here
    """Calls of kernels inside a branch or a loop body."""


class PythonWrapperCodegen(_Allocations, wrapper.PythonWrapperCodegen):  # type: ignore[misc]  # the same
    """The generated Python that allocates buffers and calls kernels."""

    @staticmethod
    def create(is_subgraph: bool, subgraph_name: Any, parent_wrapper: Any, partition_signatures: Any = None) -> Any:
        """torch's factory of wrappers."""
        if is_subgraph:
            return _Subgraph(subgraph_name, parent_wrapper, partition_signatures)
        return PythonWrapperCodegen()


class SpyreInterface(CpuInterface):  # type: ignore[misc]  # the same
    """What the compiler's front end asks of a device."""

    current_device = staticmethod(torch.accelerator.current_device_index)
    device_count = staticmethod(torch.accelerator.device_count)


def _register() -> None:
    name = device_name()
    register_device_op_overrides(name, CpuDeviceOpOverrides())
    register_interface_for_device(name, SpyreInterface)
    for index in range(torch.accelerator.device_count()):
        register_interface_for_device(f"{name}:{index}", SpyreInterface)
    # The scheduler knows loops for the host by the device's name and rewrites all others as for GPUs.
    config.loop_ordering_after_fusion = False
    config.loop_reindexing_after_fusion = False


_register()
