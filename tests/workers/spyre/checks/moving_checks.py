"""Things that go to the device, away from it and over several of it: files, copies, defaults, modules."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.parallel import comm
from torch.testing import assert_close

HOST = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize(
    ("map_location", "device"),
    [
        (None, "spyre:1"),
        ("cpu", "cpu"),
        ("spyre:0", "spyre:0"),
        (torch.device("spyre"), "spyre:0"),
        ({"spyre:1": "spyre:0"}, "spyre:0"),
        (lambda storage, location: storage, "cpu"),
    ],
)
def test_files_remember_the_device(map_location: object, device: str, weights_only: bool) -> None:
    """Tensors, parameters and shared storages come back where they were, or where they are sent."""
    tensor = HOST.to("spyre:1")
    file = io.BytesIO()
    torch.save({"tensor": tensor, "row": tensor[1], "parameter": nn.Parameter(tensor.clone())}, file)
    file.seek(0)
    loaded = torch.load(file, map_location=map_location, weights_only=weights_only)
    assert {str(value.device) for value in loaded.values()} == {device}
    assert loaded["tensor"].cpu().equal(HOST)
    assert loaded["row"].untyped_storage().data_ptr() == loaded["tensor"].untyped_storage().data_ptr()
    assert isinstance(loaded["parameter"], nn.Parameter)


def test_a_mapped_file_goes_to_the_device(tmp_path: Path) -> None:
    """`mmap=True` reads through the page cache, and the tensor is the device's own all the same."""
    torch.save(HOST.to("spyre"), tmp_path / "file.pt")
    loaded = torch.load(tmp_path / "file.pt", mmap=True)
    loaded += 1
    assert loaded.device.type == "spyre"
    assert torch.load(tmp_path / "file.pt").cpu().equal(HOST)


def test_a_file_of_a_device_that_is_not_there_is_refused() -> None:
    """The index and the number of devices are named."""
    file = io.BytesIO()
    torch.save(HOST.to("spyre:1"), file)
    other = io.BytesIO(file.getvalue().replace(b"spyre:1", b"spyre:7"))
    with pytest.raises(RuntimeError, match=r"7.*2|no device 7"):
        torch.load(other)


def test_copies_and_pickles_stay_on_the_device() -> None:
    """Deep copies and pickles, of tensors and of modules, with their gradients' flags."""
    tensor = HOST.to("spyre:1").requires_grad_()
    for twin in (copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):  # noqa: S301 - our own pickle
        assert twin.device == tensor.device
        assert twin.requires_grad
        assert twin.equal(tensor)
        assert twin.data_ptr() != tensor.data_ptr()
    module = copy.deepcopy(nn.Linear(2, 2).to("spyre:1"))
    assert {str(parameter.device) for parameter in module.parameters()} == {"spyre:1"}


def test_the_default_device_is_where_new_tensors_are() -> None:
    """Set for good, or in a context; factories, literals and modules follow."""
    torch.set_default_device("spyre:1")
    try:
        assert torch.get_default_device() == torch.device("spyre:1")
        assert torch.ones(2).device.index == 1
        assert torch.tensor([1]).device.index == 1
        assert nn.Linear(2, 2).weight.device.index == 1
    finally:
        torch.set_default_device(None)
    with torch.device("spyre"):
        assert torch.randn(2).device.type == "spyre"
        assert torch.arange(3).device.index == 0
    assert torch.ones(2).device.type == "cpu"


def test_methods_of_the_name() -> None:
    """`tensor.spyre()`, `module.spyre()` and `is_spyre`, with and without an index."""
    assert HOST.spyre().is_spyre
    assert HOST.spyre(1).device.index == 1
    assert nn.Linear(1, 1).spyre(1).weight.device.index == 1
    assert not HOST.is_spyre


LAZY = {
    "LazyLinear": ((3,), (2, 3)),
    "LazyConv1d": ((3, 2), (1, 2, 5)),
    "LazyConv2d": ((3, 2), (1, 2, 5, 5)),
    "LazyConv3d": ((3, 2), (1, 2, 5, 5, 5)),
    "LazyConvTranspose2d": ((3, 2), (1, 2, 5, 5)),
    "LazyBatchNorm1d": ((), (4, 3)),
    "LazyInstanceNorm2d": ((), (1, 2, 5, 5)),
}


@pytest.mark.parametrize("name", LAZY)
@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
def test_lazy_modules_take_their_shape_on_the_device(name: str) -> None:
    """They stay lazy when they move or change dtype, and compute as on the host after the first input."""
    arguments, shape = LAZY[name]
    results = []
    for device in ("cpu", "spyre:1"):
        module = nn.Sequential(getattr(nn, name)(*arguments)).to(device).half().float()
        assert type(module[0]).__name__ == name
        torch.manual_seed(0)
        data = torch.randn(shape)
        module(data.to(device))
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.fill_(0.5)
        output = module(data.to(device))
        output.sum().backward()
        assert output.device == torch.device(device)
        assert type(module[0]).__name__ == name.removeprefix("Lazy")
        results.append([output.detach().cpu(), *(parameter.grad.cpu() for parameter in module.parameters())])
    assert_close(results[1], results[0])


@pytest.mark.parametrize("device_ids", [None, [0], [1, 0]])
@pytest.mark.filterwarnings("ignore:PyTorch is not compiled with NCCL")
def test_data_parallel_splits_a_batch(device_ids: list[int] | None) -> None:
    """Results and gradients are those of the module alone, wherever the input comes from."""
    torch.manual_seed(0)
    host = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    data = torch.randn(5, 2)
    host(data).sum().backward()
    first = (device_ids or [0])[0]
    spread = nn.DataParallel(copy.deepcopy(host).to(f"spyre:{first}"), device_ids)
    for source in ("cpu", f"spyre:{first}"):
        spread.zero_grad()
        output = spread(data.to(source))
        output.sum().backward()
        assert output.device.index == first
        assert_close(output.cpu(), host(data))
        assert_close([p.grad.cpu() for p in spread.parameters()], [p.grad for p in host.parameters()])


@pytest.mark.filterwarnings("ignore:PyTorch is not compiled with NCCL")
def test_scattering_and_gathering() -> None:
    """The functions under `DataParallel`, by sizes and into given tensors."""
    parts = comm.scatter(torch.arange(6.0), [0, 1], chunk_sizes=[2, 4])
    assert [(part.device.index, part.tolist()) for part in parts] == [(0, [0, 1]), (1, [2, 3, 4, 5])]
    assert comm.gather(parts, destination="cpu").tolist() == list(range(6))
    target = torch.empty(6, device="spyre:1")
    comm.gather(parts, out=target)
    assert target.tolist() == list(range(6))
    targets = [torch.zeros(size, device=f"spyre:{index}") for index, size in enumerate((1, 5))]
    comm.scatter(target, out=targets)
    assert [part.tolist() for part in targets] == [[0], [1, 2, 3, 4, 5]]
    copies = comm.broadcast(target, [0, 1])
    assert [part.device.index for part in copies] == [0, 1]
    assert comm.reduce_add(copies, destination=0).tolist() == [0, 2, 4, 6, 8, 10]
    comm.broadcast(copies[0], out=[copies[1].zero_()])
    assert copies[1].tolist() == list(range(6))
