"""Source methods of generated tests, where PyTorch's device framework had no part in it."""

from __future__ import annotations

from pathlib import Path

from workers.runner.child.generation import Generation, Origin, as_texts

SOURCE = """
class TestFoo:
    def test_sum(self): pass
    def test_sum_all(self, n): pass
"""


class Operator:
    """Has what an OpInfo has."""

    full_name = "div.floor_rounding"


def generated(name: str, parameters: dict[str, object]) -> type:
    """A class as `instantiate_parametrized_tests` makes it: parameters are the default of the last argument."""

    def test(self: object, param_kwargs: dict[str, object] = parameters) -> None: ...

    return type("TestFoo", (), {name: test, "test_sum": lambda self: None})


def test_the_longest_source_name_is_the_base(tmp_path: Path) -> None:
    source = tmp_path / "test_foo.py"
    source.write_text(SOURCE)
    generation = Generation("spyre")
    assert generation.origin(generated("test_sum_all_n_1", {"n": 1}), "test_sum_all_n_1", source) == Origin(
        "test_sum_all", parameters=(("n", "1"),)
    )
    assert generation.origin(generated("test_other_n_1", {"n": 1}), "test_other_n_1", source) == Origin(
        "test_other_n_1", parameters=(("n", "1"),)
    )


def test_a_method_as_written_is_its_own_base_also_when_inherited(tmp_path: Path) -> None:
    derived = type("TestMore", (generated("test_x", {}),), {})
    assert Generation("spyre").origin(derived, "test_sum", tmp_path / "unread.py") == Origin("test_sum")


def test_operator_and_dtype_are_read_from_the_parameters(tmp_path: Path) -> None:
    source = tmp_path / "test_foo.py"
    source.write_text(SOURCE)
    made = generated("test_sum_x", {"op": Operator(), "dtype": "torch.float16"})
    assert Generation("spyre").origin(made, "test_sum_x", source) == Origin("test_sum", "div.floor_rounding", "float16")


def test_a_class_the_framework_did_not_make_keeps_its_name() -> None:
    assert Generation("spyre").class_names(generated("test_x", {})) == ("TestFoo", "TestFoo")


def test_parameters_are_texts_in_bounds_without_addresses() -> None:
    class Silent:
        def __str__(self) -> str:
            raise RuntimeError

    texts = dict(as_texts({"n": 1, "function": as_texts, "silent": Silent(), "long": "x" * 999}))
    assert texts == {"n": "1", "function": "as_texts", "silent": "<Silent>", "long": "x" * 200}
    assert len(as_texts({str(number): number for number in range(100)})) == 20
