"""Views share memory, outputs are resized and written in place, and storages survive every way of copying."""

from __future__ import annotations

import copy
import gc
import io
import pickle
from collections.abc import Callable

import pytest
import torch


def test_views_share_their_base() -> None:
    """Writing through a view shows in the base and in every other view, and torch knows them as views."""
    base = torch.zeros(2, 3, device="spyre")
    view, transposed = base.view(6), base.t()
    view[1] = 5
    assert transposed[1, 0].item() == 5
    assert view._base is base
    assert base[1:].untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
    assert base[1:].storage_offset() == 3


def test_in_place_keeps_identity_and_counts_versions() -> None:
    """The same object, a higher version."""
    tensor = torch.ones(3, device="spyre")
    version = tensor._version
    assert tensor.add_(1) is tensor
    assert tensor._version > version
    torch._foreach_mul_([tensor, tensor[:1]], 2)
    assert tensor.tolist() == [8, 4, 4]


def test_outputs_are_resized_and_returned() -> None:
    """An empty output grows, and the result is that very tensor; several outputs too."""
    source = torch.tensor([[3.0, 1.0], [2.0, 4.0]], device="spyre")
    out = torch.empty(0, device="spyre")
    assert torch.mul(source, 2, out=out) is out
    assert out.tolist() == [[6, 2], [4, 8]]
    values, indices = torch.empty(0, device="spyre"), torch.empty(0, dtype=torch.int64, device="spyre")
    torch.sort(source, out=(values, indices))
    assert values.tolist() == [[1, 3], [2, 4]]
    assert indices.tolist() == [[1, 0], [0, 1]]


def test_resizing_keeps_contents_and_memory_is_returned() -> None:
    """Growing keeps what was there, also in views of the same storage, and nothing leaks."""
    held = torch.spyre.memory_allocated()
    tensor = torch.arange(3.0, device="spyre")
    view = tensor[1:]
    tensor.resize_(2000)
    assert tensor[:3].tolist() == [0, 1, 2]
    view[0] = 7
    assert tensor[1].item() == 7
    tensor.resize_(0)
    tensor.untyped_storage().resize_(0)
    assert torch.spyre.memory_allocated() == held
    del tensor, view
    assert torch.spyre.memory_allocated() == held


def test_a_tensor_whose_memory_is_gone_raises() -> None:
    """No segmentation fault when a storage was emptied under a tensor."""
    tensor = torch.ones(3, device="spyre")
    tensor.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match=r"no memory|out of bounds"):
        tensor + 1


def test_set_shares_a_storage() -> None:
    """`set_` with a tensor or a storage gives two tensors on one memory."""
    first = torch.arange(4.0, device="spyre")
    second = torch.empty(0, device="spyre").set_(first.untyped_storage(), 1, (3,))
    second.zero_()
    assert first.tolist() == [0, 0, 0, 0]
    assert torch.empty(0, device="spyre").set_(first).is_set_to(first)


def test_empty_tensors_are_harmless() -> None:
    """Zero elements, in every position where memory could be touched."""
    nothing = torch.empty(0, 3, device="spyre")
    assert (nothing + 1).shape == (0, 3)
    assert nothing.sum().item() == 0
    assert torch.cat([nothing, torch.ones(1, 3, device="spyre")]).shape == (1, 3)
    assert nothing.cpu().to("spyre").numel() == 0


def test_lazy_zero_tensors_have_values_without_memory() -> None:
    """A gradient known to be zero copies, views and computes like zeros."""
    zero = torch._efficientzerotensor(3, device="spyre")
    assert zero.cpu().tolist() == [0, 0, 0]
    assert (zero.view(3, 1) + 1).device.type == "spyre"
    assert torch.ones(3).copy_(zero).tolist() == [0, 0, 0]
    assert torch.ones(3, device="spyre").copy_(zero).tolist() == [0, 0, 0]


def test_lazy_conjugation_and_negation_survive() -> None:
    """Conjugate and negative views are resolved by copies and by kernels, on either side."""
    host = torch.tensor([1 + 2j, 3 - 1j])
    ours = host.to("spyre")
    assert ours.conj().is_conj()
    assert ours.conj().cpu().equal(host.conj())
    assert (ours.conj() + 1).cpu().equal(host.conj() + 1)
    assert ours.conj().imag.is_neg()
    assert ours.conj().imag.cpu().equal(host.conj().imag)
    assert host.conj().to("spyre").cpu().equal(host.conj())


def test_deep_copies_stay_on_the_device_and_keep_sharing() -> None:
    """A copied base and its copied view still share memory, and the originals are left alone."""
    base = torch.arange(3.0, device="spyre:1")
    copied = copy.deepcopy({"base": base, "view": base[1:]})
    assert copied["base"].device == base.device
    copied["base"][1] = 9
    assert copied["view"].tolist() == [9, 2]
    assert base.tolist() == [0, 1, 2]


def test_pickled_tensors_stay_on_the_device() -> None:
    """Device, values and strides survive a pickle."""
    tensor = torch.arange(6.0, device="spyre:1").view(2, 3).t()
    back = pickle.loads(pickle.dumps(tensor))  # noqa: S301 - pickled in this line
    assert back.device == tensor.device
    assert back.stride() == tensor.stride()
    assert back.equal(tensor)


@pytest.mark.parametrize("saved_on", ["cpu", "spyre"])
@pytest.mark.parametrize("loaded_on", ["cpu", "spyre", "spyre:1", None])
def test_saved_tensors_load_where_asked(saved_on: str, loaded_on: str | None) -> None:
    """torch.save and torch.load cross devices both ways; without a wish they stay."""
    file = io.BytesIO()
    torch.save({"weight": torch.arange(3.0, device=saved_on)}, file)
    file.seek(0)
    weight = torch.load(file, map_location=loaded_on)["weight"]
    assert weight.device.type == torch.device(loaded_on or saved_on).type
    assert weight.tolist() == [0, 1, 2]
    if loaded_on == "spyre:1":
        assert weight.device.index == 1


def test_inference_tensors_and_views_of_normal_tensors() -> None:
    """In inference mode new tensors are inference tensors, views of older ones are not."""
    normal = torch.ones(3, device="spyre")
    with torch.inference_mode():
        assert (normal + 1).is_inference()
        assert not normal.view(3, 1).is_inference()


def test_channels_last_is_kept() -> None:
    """Memory formats pass through kernels and copies."""
    host = torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    ours = host.to("spyre")
    assert ours.is_contiguous(memory_format=torch.channels_last)
    assert (ours * 2).stride() == (host * 2).stride()


def test_uninitialised_memory_is_filled_when_asked() -> None:
    """With deterministic algorithms `empty` gives NaN, so that reading it shows."""
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(4, device="spyre").isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_lazy_clone_shares_memory_until_somebody_writes() -> None:
    """Reading leaves it shared; writing to either side, in any way, leaves the other side alone."""
    writes: list[Callable[[torch.Tensor], object]] = [
        lambda t: t.add_(1),
        lambda t: torch.add(t, t, out=t),
        lambda t: t.copy_(torch.full((4,), 7.0)),
        lambda t: t[1:].zero_(),
        lambda t: t.fill_(3),
    ]
    for write in writes:
        for first in (True, False):
            original = torch.arange(4.0, device="spyre")
            clone = torch._lazy_clone(original)
            assert (clone * 2).tolist() == [0, 2, 4, 6]
            assert clone.sum().item() == 6
            assert torch._C._data_address(clone) == torch._C._data_address(original)
            changed, kept = (original, clone) if first else (clone, original)
            write(changed)
            assert kept.tolist() == [0, 1, 2, 3]
            assert changed.tolist() != [0, 1, 2, 3]


def test_the_last_lazy_clone_takes_the_memory_over() -> None:
    """Whatever memory it is and whoever writes first, the last one left writes in place; nothing is freed twice."""
    sources: list[Callable[[], torch.Tensor]] = [
        lambda: torch.empty(4, device="spyre").copy_(torch.arange(4.0)),
        lambda: torch.arange(4.0, device="spyre"),
        lambda: torch.arange(4.0, device="spyre") + 0,
        lambda: torch.arange(6.0, device="spyre")[:4],
        lambda: torch.empty(4, device="spyre").copy_(torch.arange(4.0)).view(2, 2),
    ]
    for make in sources:
        before = torch.spyre.memory_allocated()
        original = make()
        clones = [torch._lazy_clone(original) for _ in range(3)]
        address = torch._C._data_address(original)
        assert all(torch._C._is_cow_tensor(clone) for clone in clones)
        original += 1
        clones[0] += 1
        clones[1] += 1
        assert torch._C._data_address(clones[2]) == address
        clones[2] += 1
        assert not torch._C._is_cow_tensor(clones[2])
        assert torch._C._data_address(clones[2]) == address
        assert all(clone.flatten().tolist() == [1, 2, 3, 4] for clone in (original, *clones))
        del original, clones
        gc.collect()
        assert torch.spyre.memory_allocated() == before


def test_a_copy_onto_itself_in_another_place_is_refused() -> None:
    """As on every device: what overlaps in part, or inside the target, has no defined result."""
    memory = torch.arange(8.0, device="spyre")
    memory[:4].copy_(memory[4:])
    memory[:4].copy_(memory[:4])
    assert memory.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]
    for target, source in ((memory[:4], memory[1:5]), (memory[:1].expand(4), memory[4:])):
        with pytest.raises(RuntimeError, match="unsupported operation"):
            target.copy_(source)
