"""Names are read as short-sightedly as the framework reads them."""

from __future__ import annotations

import pytest

from selector.manifests.dtypes import dtype_in_name, op_in_name


@pytest.mark.parametrize(
    ("method", "dtype"),
    [
        ("test_add_spyre_float16", "float16"),
        ("test_add_spyre_bfloat16", "bfloat16"),
        ("test_add_spyre_complex64_n_3", "complex64"),
        ("test_pack_uint8_spyre", "uint8"),
        ("test_half_spyre_float32", "float32"),
        ("test_half_spyre", "half"),
        ("test_cast_spyre_float64_float16", "float16"),
        ("test_add_spyre_float8_e4m3fn", None),
        ("test_add_spyre", None),
        ("test_float16s_spyre", None),
    ],
)
def test_the_longest_dtype_word_wins(method: str, dtype: str | None) -> None:
    assert dtype_in_name(method) == dtype


@pytest.mark.parametrize(
    ("method", "op"),
    [
        ("test_unary_abs_spyre_float32", "abs"),
        ("test_unary_nn_functional_gelu_spyre_float32", "nn_functional_gelu"),
        ("test_unary_abs_spyre", None),
        ("test_unary_spyre_float32", None),
        ("test_binary_abs_spyre_float32", None),
    ],
)
def test_the_operator_stands_between_base_and_device_when_something_follows(method: str, op: str | None) -> None:
    assert op_in_name(method, "test_unary", "spyre") == op
