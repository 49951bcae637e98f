from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest

from selector.upgrade.operators.evaluation import Applied, Dtype, External, Instance, Interpreter, Unread, Value
from tests.selector.upstream import MemoryTree

FOLLOWED = ("m.py", "pkg/__init__.py", "pkg/part.py")


def interpreter(text: str, files: Mapping[str, str], steps: int = 100_000) -> Interpreter:
    tree = MemoryTree({"m.py": textwrap.dedent(text), **{f"pkg/{name}.py": other for name, other in files.items()}})
    return Interpreter(tree, lambda path: path in FOLLOWED, steps)


def names(text: str, **files: str) -> dict[str, Value]:
    """What the statements of a module leave in its names."""
    module = interpreter(text, files).module("m")
    assert module is not None
    return module.names


@pytest.mark.parametrize(
    ("expression", "worth"),
    [
        ("(1, 2) + (3,)", (1, 2, 3)),
        ("(*nobody, 'x')", None),
        ("[*nobody, 'x']", ["x"]),
        ("[*(1, 2), 'x']", [1, 2, "x"]),
        ("{'a': 1, **{'b': 2}}", {"a": 1, "b": 2}),
        ("{1, 2} - {2}", {1}),
        ("'x' in {'x': 1} and not False", True),
        ("1 if None is None else 2", 1),
        ("[x for x in (1, 2, 3) if x != 2]", [1, 3]),
        ("{k: v for k, v in {'a': 1, 'b': 2}.items() if k != 'a'}", {"b": 2}),
        ("f'{1}-{\"a\"}'", "1-a"),
        ("'a.b'.split('.')", ["a", "b"]),
        ("dict(a=1).get('b', 3)", 3),
        ("tuple(set((1,)))", (1,)),
        ("-1", -1),
        ("(0, 1)[1]", 1),
        ("isinstance((), tuple)", True),
        ("any(x for x in (0, 1))", True),
    ],
)
def test_an_expression_is_worth_what_python_says(expression: str, worth: object) -> None:
    """`None` stands for one that is left as it is written, for it needs a name that nobody defines."""
    found = names(f"x = {expression}")["x"]
    assert isinstance(found, Unread) if worth is None else found == worth


def test_dtypes_have_one_name_whatever_they_are_called() -> None:
    found = names("import torch\nx = {torch.half, torch.float16, torch.bool}\ny = torch.backends")
    assert found["x"] == {Dtype("float16"), Dtype("bool")}
    assert found["y"] == External("torch.backends")


def test_functions_run_with_their_arguments_and_what_stands_around_them() -> None:
    found = names(
        """
        base = (1,)
        def make(first, *rest, last=3, **more):
            if last == 3:
                last = 4
            def inner():
                return base + (first,) + rest + (last, more["k"])
            return inner()
        x = make(2, 5, k=6)
        """
    )
    assert found["x"] == (1, 2, 5, 4, 6)


def test_a_function_that_cannot_be_followed_is_a_call_that_is_not_carried_out() -> None:
    """Generators, decorated ones, those that wait for what is not known, and those that call themselves without end."""
    found = names(
        """
        import elsewhere
        def generated(x):
            yield x
        @elsewhere.wrapped
        def decorated(x):
            return x
        def waiting(x):
            if elsewhere.is_so(x):
                return 1
            return 2
        def endless(x):
            return endless(x)
        found = [generated(1), decorated(1), waiting(1), endless(1)]
        """
    )
    assert [type(value) for value in found["found"][:3]] == [Applied] * 3
    assert isinstance(found["found"][3], Applied)


def test_what_an_unknown_branch_or_loop_assigns_is_unknown_after_it() -> None:
    run = interpreter(
        "from elsewhere import condition, several\nx = y = 1\nif condition:\n    x = 2\n"
        "for one in several:\n    y = one\nz = 1\n",
        {},
    )
    module = run.module("m")
    assert module is not None
    assert isinstance(module.names["x"], Unread)
    assert isinstance(module.names["y"], Unread)
    assert module.names["z"] == 1
    assert run.notes == ["m.py:5: not gone through: several"]


def test_an_empty_environment_is_assumed_and_so_is_a_machine_with_nothing_special() -> None:
    run = interpreter(
        "import os\nfrom torch.testing._internal.common_utils import TEST_CUDA, IS_LINUX\n"
        "x = 1 if os.environ.get('X') else 2\ny = 1 if TEST_CUDA else 2\nz = 1 if IS_LINUX else 2\n",
        {},
    )
    module = run.module("m")
    assert module is not None
    assert [module.names[name] for name in "xyz"] == [2, 2, 1]
    assert run.assumed == {"TEST_CUDA", "IS_LINUX"}


def test_modules_of_the_tree_are_followed_and_others_are_names() -> None:
    found = names(
        "import numpy as np\nfrom pkg import part\nfrom pkg.part import *\nfrom pkg.part import one as uno\n"
        "x = part.one + uno + two\ny = np.sum\n",
        __init__="from .part import one\n",
        part="one = (1,)\ntwo = (2,)\n_three = 3\n",
    )
    assert found["x"] == (1, 1, 2)
    assert found["y"] == External("numpy.sum")
    assert "_three" not in found


def test_a_module_that_imports_itself_over_another_sees_what_it_had_so_far() -> None:
    found = names(
        "early = (1,)\nfrom pkg.part import late\nlast = late()\n",
        __init__="",
        part="def late():\n    from m import early\n    return early\n",
    )
    assert found["last"] == (1,)


def test_a_list_that_grows_is_seen_by_all_who_hold_it() -> None:
    found = names("x = [1]\ny = x\nx += [2]\nx.append(3)\n{'k': x}.setdefault('k', []).extend([4])\n")
    assert found["y"] == [1, 2, 3, 4]


def test_a_constructor_is_followed_through_the_classes_above() -> None:
    found = names(
        """
        from dataclasses import dataclass, field
        @dataclass
        class OpInfo:
            name: str
            skips: tuple = ()
            more: dict = field(default_factory=dict)
            def __post_init__(self):
                self.skips = (*self.skips, "last")
        class Special(OpInfo):
            def __init__(self, name, *, skips=(), **kwargs):
                self.given = locals().copy()
                kwargs["skips"] = skips + ("first",)
                super(Special, self).__init__(name, **kwargs)
        x = Special("abs", skips=("own",))
        y = Special("abs", nothing=1)
        """
    )
    made = found["x"]
    assert isinstance(made, Instance)
    assert made.fields["skips"] == ("own", "first", "last")
    assert made.fields["more"] == {}
    assert made.fields["given"]["name"] == "abs"
    assert isinstance(found["y"], Applied)


def test_the_steps_have_a_bound_and_the_rest_is_left_out() -> None:
    loops = "".join(f"{' ' * depth}for i{depth} in (1, 2, 3, 4):\n" for depth in range(8))
    run = interpreter(f"x = 1\n{loops}{' ' * 8}z = i7\ny = 2\n", {}, steps=1_000)
    module = run.module("m")
    assert module is not None
    assert module.names["x"] == 1
    assert "y" not in module.names or isinstance(module.names["y"], Unread)
    assert any("too long" in note for note in run.notes)
