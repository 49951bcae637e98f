# Owner(s): ["module: autograd"]
"""Gradients on the device; nothing here touches what the demo changes."""

import torch
from torch.testing import make_tensor
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestDemoAutograd(TestCase):
    def test_linear_gradient(self, device):
        weight = make_tensor((2, 3), device=device, dtype=torch.float32, requires_grad=True)
        torch.nn.functional.linear(torch.ones(1, 3, device=device), weight).sum().backward()
        self.assertEqual(weight.grad, torch.ones(2, 3, device=device))

    def test_gradient_lives_on_the_device(self, device):
        leaf = torch.ones(3, device=device, requires_grad=True)
        (leaf * leaf).sum().backward()
        self.assertEqual(leaf.grad.device, leaf.device)


instantiate_device_type_tests(TestDemoAutograd, globals())

if __name__ == "__main__":
    run_tests()
