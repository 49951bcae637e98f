"""Tensors of different devices do not mix, with the exceptions that every accelerator makes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

MIXED: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "add": lambda ours, other: ours + other,
    "add, other first": lambda ours, other: other + ours,
    "in place": lambda ours, other: ours.mul_(other),
    "in place on the other": lambda ours, other: other.mul_(ours),
    "matmul": lambda ours, other: ours @ other,
    "cat": lambda ours, other: torch.cat([ours, other]),
    "stack": lambda ours, other: torch.stack([other, ours]),
    "where": lambda ours, other: torch.where(ours > 0, ours, other),
    "out": lambda ours, other: torch.add(ours, ours, out=other),
    "linear": torch.nn.functional.linear,
    "conv": lambda ours, other: torch.nn.functional.conv1d(ours[None], other[None]),
    "foreach": lambda ours, other: torch._foreach_add([ours], [other]),
    "scatter": lambda ours, other: ours.scatter(0, torch.zeros(3, 3, dtype=torch.int64), other),
    "set_": lambda ours, other: ours.set_(other),
    "layer_norm": lambda ours, other: torch.nn.functional.layer_norm(ours, (3,), other[0]),
    "l1_loss": torch.nn.functional.l1_loss,
    "lerp": lambda ours, other: torch.lerp(ours, ours, other),
    "addmm": lambda ours, other: torch.addmm(other, ours, ours),
}


@pytest.mark.parametrize("operation", MIXED)
@pytest.mark.parametrize("other", ["cpu", "spyre:1"])
def test_mixing_devices_is_refused(operation: str, other: str) -> None:
    """The usual error, for host tensors as for tensors of a second device."""
    with pytest.raises(RuntimeError, match="on the same device"):
        MIXED[operation](torch.ones(3, 3, device="spyre"), torch.ones(3, 3, device=other))


def test_a_refused_call_changes_nothing() -> None:
    """The check comes before the kernel."""
    target = torch.ones(3, device="spyre")
    with pytest.raises(RuntimeError, match="same device"):
        target.add_(torch.ones(3))
    assert target.tolist() == [1, 1, 1]


def test_host_scalars_are_welcome() -> None:
    """A tensor without dimensions may come from the host, and takes part in type promotion as usual."""
    ours = torch.arange(3, device="spyre")
    assert (ours + torch.tensor(2)).tolist() == [2, 3, 4]
    assert (ours * torch.tensor(0.5)).dtype == torch.float32
    assert torch.where(ours > 1, ours, torch.tensor(7)).tolist() == [7, 7, 2]


def test_host_scalars_are_not_written() -> None:
    """As an output a host scalar is refused, and so is a device scalar among host tensors."""
    ours = torch.ones(3, device="spyre")
    with pytest.raises(RuntimeError, match="same device"):
        torch.sum(ours, 0, out=torch.tensor(0.0))
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(3) + ours[0]


def test_indices_may_come_from_the_host() -> None:
    """Reading and writing by host indices works, by host values of more than one element it does not."""
    ours = torch.arange(4.0, device="spyre")
    assert ours[torch.tensor([3, 0])].tolist() == [3, 0]
    ours[torch.tensor([True, False, False, True])] = torch.tensor(9.0)
    assert ours.tolist() == [9, 1, 2, 9]
    with pytest.raises(RuntimeError, match="same device"):
        ours[torch.tensor([0, 1])] = torch.tensor([1.0, 2.0])


def test_copies_cross_devices() -> None:
    """Host to device, device to device and back, also in lists, with a change of dtype and of strides."""
    host = torch.arange(6.0).reshape(2, 3)
    first = host.t().to("spyre:0")
    second = first.to("spyre:1", torch.float64)
    assert second.device.index == 1
    assert second.cpu().equal(host.t().double())
    target = torch.zeros(3, 2, device="spyre:0")
    torch._foreach_copy_([target], [host.t().contiguous()])
    assert target.cpu().equal(host.t())


def test_results_stay_on_the_device_of_the_arguments() -> None:
    """Not on the current one."""
    with torch.spyre.device(0):
        assert (torch.ones(2, device="spyre:1") * 2).sum().device.index == 1


@pytest.mark.parametrize("make", ["to_sparse", "to_sparse_csr", "to_mkldnn"])
@pytest.mark.filterwarnings("ignore")
def test_sparse_layouts_are_refused_by_name(make: str) -> None:
    """The message carries the prefix that tells a refusal from a failure, and the rule."""
    with pytest.raises(RuntimeError, match=r"^spyre: unsupported: sparse-layout: "):
        getattr(torch.eye(3, device="spyre"), make)()


@pytest.mark.filterwarnings("ignore")
def test_sparse_tensors_cannot_move_in() -> None:
    """Neither a new sparse tensor nor one from the host."""
    with pytest.raises(NotImplementedError, match=r"^spyre: unsupported: sparse-layout: "):
        torch.sparse_coo_tensor([[0], [0]], [1.0], device="spyre")
    with pytest.raises(NotImplementedError, match=r"^spyre: unsupported: sparse-layout: "):
        torch.eye(3).to_sparse().to("spyre")


@pytest.mark.filterwarnings("ignore")
def test_quantized_and_nested_tensors_are_refused_by_name() -> None:
    """Each by its own rule."""
    with pytest.raises(RuntimeError, match=r"^spyre: unsupported: quantized: "):
        torch.quantize_per_tensor(torch.ones(2, device="spyre"), 0.1, 0, torch.qint8)
    with pytest.raises(RuntimeError, match=r"^spyre: unsupported: nested-tensor: "):
        torch.nested.nested_tensor([torch.ones(2)], device="spyre") + 1


def test_an_operator_without_a_kernel_is_refused_by_name() -> None:
    """Not with a message about some CPU backend that the caller never used."""
    with pytest.raises(NotImplementedError, match=r"^spyre: unsupported: no-kernel: .*_cudnn_rnn_flatten_weight"):
        torch._cudnn_rnn_flatten_weight([torch.ones(2, device="spyre")], 1, 1, 0, 1, 0, 1, False, False)
