# Owner(s): ["module: advanced indexing"]
"""Indexing tests of the demo tree, in PyTorch's device-generic style."""

import math

import torch
from torch.testing import make_tensor
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, parametrize, run_tests


class TestDemoIndexing(TestCase):
    @dtypes(torch.uint8, torch.int32, torch.int64)
    @parametrize("shape", [(7,), (3, 4), (2, 3, 4)])
    def test_unravel_index_roundtrip(self, device, dtype, shape):
        """Coordinates that were unravelled, put together again, are the flat indices."""
        flat = torch.arange(math.prod(shape), device=device).to(dtype)
        coordinates = torch.unravel_index(flat, shape)
        again = torch.zeros_like(flat)
        for coordinate, size in zip(coordinates, shape):
            again = again * size + coordinate
        self.assertEqual(again.to(dtype), flat)

    def test_unravel_index_finds_the_maximum(self, device):
        values = make_tensor((5, 6), device=device, dtype=torch.float32)
        row, column = torch.unravel_index(values.argmax(), values.shape)
        self.assertEqual(values[row, column], values.max())

    def test_unravel_index_refuses_floats(self, device):
        with self.assertRaisesRegex(TypeError, "integer dtype"):
            torch.unravel_index(torch.zeros(3, device=device), (3,))

    def test_unravel_index_refuses_negative_sizes(self, device):
        with self.assertRaisesRegex(ValueError, "negative"):
            torch.unravel_index(torch.zeros(1, device=device, dtype=torch.int64), (-1, 2))

    def test_unravel_index_builds_sparse(self, device):
        """Unravelled coordinates are what a sparse tensor is made of."""
        coordinates = torch.stack(torch.unravel_index(torch.tensor([1, 5], device=device), (2, 3)))
        built = torch.sparse_coo_tensor(coordinates, torch.ones(2, device=device), (2, 3))
        self.assertEqual(built.to_dense().sum().item(), 2.0)

    @dtypes(torch.float32, torch.int64)
    def test_index_select(self, device, dtype):
        values = make_tensor((4, 3), device=device, dtype=dtype)
        picked = values.index_select(0, torch.tensor([2, 0], device=device))
        self.assertEqual(picked, torch.stack([values[2], values[0]]))

    def test_index_put_accumulates(self, device):
        counts = torch.zeros(3, device=device)
        where = torch.tensor([0, 2, 2], device=device)
        counts.index_put_((where,), torch.ones(3, device=device), accumulate=True)
        self.assertEqual(counts.tolist(), [1.0, 0.0, 2.0])


instantiate_device_type_tests(TestDemoIndexing, globals(), allow_mps=False)

if __name__ == "__main__":
    run_tests()
