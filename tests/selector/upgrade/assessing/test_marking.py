"""Decorators are compared by name, and those that act elsewhere are told apart from those that the device sees."""

from __future__ import annotations

import pytest

from selector.catalog import CatalogTest
from selector.upgrade.assessing.marking import compare_marks, is_parametrized, runs_elsewhere_only, spelt_dtypes
from tests.selector.upgrade.sides import named, side, things


def decorated(*decorators: str) -> CatalogTest:
    lines = "\n".join(decorators)
    return side(things(f"{lines}\ndef test_x(self, device): ...")).tests[named("test_x")]


def test_what_came_went_and_has_other_arguments() -> None:
    found = compare_marks(decorated("@slowTest", "@dtypes(torch.half)"), decorated("@dtypes(torch.float)", "@skip('')"))
    assert found.all == found.seen == ("dtypes(other arguments)", "+skip", "-slowTest")


@pytest.mark.parametrize(
    "decorator",
    ["skipCUDAIf(x)", "skipMPS", "expectedFailureXPU", "dtypesIfCUDA(y)", "dtypesIfCPU(y)", "skipIfRocm", "gcIfJetson"],
)
def test_a_decorator_for_another_device_is_not_seen(decorator: str) -> None:
    found = compare_marks(decorated(), decorated(f"@{decorator}"))
    assert (len(found.all), found.seen) == (1, ())


@pytest.mark.parametrize(
    "decorator", ["skipIf(x)", "dtypesIfPRIVATEUSE1(y)", "onlyCUDA", "skipPRIVATEUSE1If(x)", "skip"]
)
def test_one_for_every_device_or_those_out_of_the_tree_is_seen(decorator: str) -> None:
    assert len(compare_marks(decorated(), decorated(f"@{decorator}")).seen) == 1


def test_dtypes_are_spelt_by_their_names_and_by_groups() -> None:
    assert spelt_dtypes(decorated("@dtypes(torch.half, torch.float)")) == ("float16", "float32")
    assert spelt_dtypes(decorated("@dtypes(*floating_types_and(torch.bool))")) == ("float32", "float64", "bool")
    assert spelt_dtypes(decorated("@dtypes(*float8_types(), torch.half)")) == ()
    own = decorated("@dtypes(torch.float)", "@dtypesIfPRIVATEUSE1(torch.half)", "@dtypesIfCUDA(torch.double)")
    assert spelt_dtypes(own) == ("float16",)


def test_tests_of_other_devices_and_parametrized_ones_are_known() -> None:
    assert runs_elsewhere_only(decorated("@onlyCUDA"))
    assert not runs_elsewhere_only(decorated("@onlyNativeDeviceTypes"))
    assert is_parametrized(decorated("@parametrize('x', [1, 2])"))
