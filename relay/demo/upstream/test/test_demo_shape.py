# Owner(s): ["module: tests"]
"""Shape functions of `torch.functional` that the demo's change leaves alone."""

import torch
from torch.testing import make_tensor
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, parametrize, run_tests


class TestDemoShape(TestCase):
    @dtypes(torch.float32, torch.int64)
    def test_meshgrid_shapes(self, device, dtype):
        rows, columns = torch.meshgrid(
            make_tensor((3,), device=device, dtype=dtype), make_tensor((2,), device=device, dtype=dtype), indexing="ij"
        )
        self.assertEqual(rows.shape, (3, 2))
        self.assertEqual(columns.shape, (3, 2))

    @parametrize("dimensions", [1, 2, 3])
    def test_atleast(self, device, dimensions):
        scalar = torch.tensor(2.0, device=device)
        grown = {1: torch.atleast_1d, 2: torch.atleast_2d, 3: torch.atleast_3d}[dimensions](scalar)
        self.assertEqual(grown.dim(), dimensions)
        self.assertEqual(grown.device.type, torch.device(device).type)

    def test_split_gives_views(self, device):
        whole = torch.zeros(6, device=device)
        for part in torch.split(whole, 2):
            part.add_(1)
        self.assertEqual(whole, torch.ones(6, device=device))

    def test_cartesian_prod(self, device):
        pairs = torch.cartesian_prod(torch.arange(2, device=device), torch.arange(3, device=device))
        self.assertEqual(pairs.shape, (6, 2))


instantiate_device_type_tests(TestDemoShape, globals())

if __name__ == "__main__":
    run_tests()
