# Owner(s): ["module: tests"]
"""Operator-database tests of the demo tree: one generated test per operator and dtype."""

import torch
from torch.testing._internal.common_device_type import OpDTypes, instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, run_tests

INDEXING = [op for op in op_db if op.name in ("unravel_index", "gather", "take_along_dim")]
POINTWISE = [op for op in op_db if op.name in ("add", "mul", "sigmoid")]


def to_cpu(value):
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, (list, tuple)):
        return type(value)(to_cpu(item) for item in value)
    if isinstance(value, dict):
        return {key: to_cpu(item) for key, item in value.items()}
    return value


class TestDemoOps(TestCase):
    def compare_with_cpu(self, device, dtype, op):
        for sample in op.sample_inputs(device, dtype):
            on_device = op(sample.input, *sample.args, **sample.kwargs)
            on_cpu = op(to_cpu(sample.input), *to_cpu(sample.args), **to_cpu(sample.kwargs))
            self.assertEqual(to_cpu(on_device), on_cpu)

    @ops(INDEXING, dtypes=OpDTypes.any_one)
    def test_indexing_matches_cpu(self, device, dtype, op):
        self.compare_with_cpu(device, dtype, op)

    @ops(POINTWISE, allowed_dtypes=(torch.float32, torch.int64))
    def test_pointwise_matches_cpu(self, device, dtype, op):
        self.compare_with_cpu(device, dtype, op)


instantiate_device_type_tests(TestDemoOps, globals())

if __name__ == "__main__":
    run_tests()
