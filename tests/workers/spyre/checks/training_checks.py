"""Networks compute and learn the same on the device as on the host."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.testing import assert_close

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(4, 3), (2, 4)),
    "conv1d": (lambda: nn.Conv1d(2, 3, 3, padding=1), (2, 2, 7)),
    "conv2d": (lambda: nn.Conv2d(2, 4, 3, stride=2, groups=2), (2, 2, 9, 9)),
    "conv2d without bias": (lambda: nn.Conv2d(2, 4, 3, bias=False, dilation=2), (2, 2, 9, 9)),
    "conv3d": (lambda: nn.Conv3d(1, 2, 2), (1, 1, 4, 4, 4)),
    "transposed convolution": (lambda: nn.ConvTranspose2d(2, 3, 3, stride=2, output_padding=1), (2, 2, 4, 4)),
    "layer norm": (lambda: nn.LayerNorm(4), (3, 4)),
    "batch norm": (lambda: nn.BatchNorm2d(2), (3, 2, 4, 4)),
    "group norm": (lambda: nn.GroupNorm(2, 4), (3, 4, 5)),
    "pooling": (lambda: nn.Sequential(nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1)), (2, 2, 8, 8)),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (2, 3, 8)),
    "lstm": (lambda: nn.LSTM(4, 3, num_layers=2), (5, 2, 4)),
    "gru": (lambda: nn.GRU(4, 3, bidirectional=True), (5, 2, 4)),
    "lstm without bias": (lambda: nn.LSTM(4, 3, bias=False), (5, 2, 4)),
    "gru without bias": (lambda: nn.GRU(4, 3, bias=False), (5, 2, 4)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_forward_and_backward_match_the_host(name: str) -> None:
    """Outputs, gradients of inputs and of all parameters."""
    make, shape = NETWORKS[name]
    torch.manual_seed(0)
    host, data = make(), torch.randn(shape)
    ours = copy.deepcopy(host).to("spyre")
    results = []
    for network, device in ((host, "cpu"), (ours, "spyre")):
        entered = data.to(device, copy=True).requires_grad_()
        output = network(entered)
        if isinstance(output, tuple):  # a recurrent network gives its last state as well
            output = output[0]
        assert output.device.type == device
        (output * output).sum().backward()
        results.append([output, entered.grad, *(parameter.grad for parameter in network.parameters())])
    for expected, actual in zip(*results, strict=True):
        assert_close(actual.cpu(), expected)


def test_second_derivatives_of_convolutions() -> None:
    """Double backward goes through the convolution kernels again."""
    grads = []
    for device in ("cpu", "spyre"):
        torch.manual_seed(0)
        data = torch.randn(1, 2, 6).to(device).requires_grad_()
        weight = torch.randn(2, 2, 3).to(device).requires_grad_()
        (first,) = torch.autograd.grad(torch.conv1d(data, weight).pow(3).sum(), data, create_graph=True)
        grads.append(torch.autograd.grad(first.pow(2).sum(), weight)[0].cpu())
    assert_close(grads[1], grads[0])


def test_an_optimiser_makes_the_same_steps() -> None:
    """AdamW in its list form, which uses foreach kernels."""
    trained = []
    for device in ("cpu", "spyre"):
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
        optimiser = torch.optim.AdamW(network.parameters(), foreach=True)
        for _ in range(3):
            optimiser.zero_grad()
            network(torch.ones(2, 4, device=device)).sum().backward()
            optimiser.step()
        trained.append([parameter.detach().cpu() for parameter in network.parameters()])
    assert_close(trained[1], trained[0])


def test_autocast_lowers_and_keeps_precision() -> None:
    """Matrix products run in the lower dtype, sensitive functions in float32, as on every accelerator."""
    data = torch.rand(3, 3, device="spyre")
    with torch.autocast("spyre", dtype=torch.bfloat16):
        product = data @ data
        assert product.dtype == torch.bfloat16
        assert torch.nn.functional.linear(data, data).dtype == torch.bfloat16
        assert product.exp().dtype == torch.float32
        assert torch.softmax(product, 0).dtype == torch.float32
        assert product.norm().dtype == torch.float32
        assert torch.addcmul(product, data, product).dtype == torch.float32
        assert (product + product).dtype == torch.bfloat16
    assert (data @ data).dtype == torch.float32


def _double_on_device(items: list[tuple[torch.Tensor]]) -> torch.Tensor:
    return (torch.stack([item[0] for item in items]).to("spyre") * 2).cpu()


def test_a_data_loader_child_may_use_the_device() -> None:
    """Forked children go on with the device, as its memory is process memory."""
    dataset = torch.utils.data.TensorDataset(torch.arange(4.0))
    loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=2,
        num_workers=1,
        collate_fn=lambda items: (torch.stack([i[0] for i in items]).to("spyre") * 2).cpu(),
    )
    assert torch.cat(list(loader)).tolist() == [0, 2, 4, 6]


def test_results_take_part_in_mixed_precision_of_the_device() -> None:
    """A result is cast by the device's autocast region and left alone by the host's."""
    product = torch.ones(2, 2, device="spyre") @ torch.ones(2, 2, device="spyre")
    with torch.autocast("spyre", dtype=torch.bfloat16):
        assert (product @ product).dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (product @ product).dtype == torch.float32
