from __future__ import annotations

from selector.upgrade.operators.evaluation import Interpreter
from selector.upgrade.operators.evaluation.fingerprint import fingerprint
from tests.selector.upstream import MemoryTree


def printed(text: str) -> tuple[str, tuple[str, ...]]:
    """The digest of what a module calls `x`, and the definitions it names."""
    module = Interpreter(MemoryTree({"m.py": text}), lambda path: path == "m.py").module("m")
    assert module is not None
    return fingerprint([module.names["x"]])


def test_equal_values_have_equal_digests_wherever_they_stand() -> None:
    assert printed("x = (1, [2, 'a'])") == printed("y = 2\n\nx = (1,\n  [y, 'a'])  # the same\n")
    assert printed("x = (1, 2)") != printed("x = (2, 1)")
    assert printed("import torch\nx = {torch.half, torch.bool}") == printed(
        "import torch\nx = {torch.bool, torch.half}"
    )


def test_the_reason_of_a_skip_is_no_part_of_it() -> None:
    first, other = (f"import unittest\nx = unittest.skip('{words}')" for words in ("slow", "broken"))
    assert printed(first) == printed(other)
    assert printed(first) != printed("import unittest\nx = unittest.skipIf('slow', 1)")


def test_definitions_are_named_and_not_looked_into() -> None:
    text = "from functools import partial\ndef f(n):\n    return {}\nx = partial(f, n=1)\n"
    assert printed(text.format(1)) == printed(text.format(2))
    assert printed(text.format(1))[1] == ("m.py:f",)


def test_what_a_lambda_or_inner_function_uses_belongs_to_it() -> None:
    assert printed("def f(): pass\nx = lambda y: f(y)")[1] == ("m.py:f",)
    made = "def make(n):\n    def inner(m):\n        return n + m\n    return inner\nx = make({})\n"
    assert printed(made.format(1)) != printed(made.format(2))


def test_a_part_of_the_test_library_that_is_not_followed_is_a_definition_too() -> None:
    found = printed("from torch.testing._internal.common_utils import make\nx = (make, 1)")
    assert found[1] == ("torch.testing._internal.common_utils.make",)


def test_an_expression_that_nests_too_deep_has_a_digest_all_the_same() -> None:
    assert printed(f"x = lambda: {'+'.join(['y'] * 900)}")[0]
