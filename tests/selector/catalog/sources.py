"""Small test files as hypothesis makes them, with what matters to a catalog: classes that inherit within a file and
across files, helpers, decorators, imports of each other, and files that do not parse."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = ("test_a", "test_b", "test_c", "common")
CLASSES = ("TestOne", "TestTwo", "Mixin", "Base")
#: What a class may be called where it is used: its own name, or the one it was imported under.
_BASES = (*CLASSES, "Alias", "TestCase", "object", "make()")
_WORDS = ("add", "check", "helper", "Mixin", "solve", "'linalg.solve'", "# add", "self.setUp", "ünïcode", "'two words'")
_DECORATORS = ("@ops(op_db, dtypes=[torch.half])", "@onlyCPU", "@skip('a reason\\ud800 \\0')", "@a.b[c](d)")

_body = st.lists(st.sampled_from(_WORDS), max_size=3).map(lambda said: "; ".join(["pass", *said]))
_decorators = st.lists(st.sampled_from(_DECORATORS), max_size=2)
_functions = st.tuples(st.sampled_from(("test_x", "test_y", "setUp", "check", "helper")), _decorators, _body)
_import = st.tuples(st.sampled_from(NAMES), st.sampled_from((*CLASSES, "Base as Alias", "check", "*")))
_odd = st.sampled_from(
    (
        "for op in db:\n    setattr(TestOne, op, 1)\n",
        "import subprocess\nsubprocess.run(['test_b.py'])\n",
        "instantiate_device_type_tests(Mixin, globals())\n",
        '# Owner(s): ["module: nn"]\n',
        "class Broken(:\n",
        "import numpy as np and more\n",
        "if X:\n    def test_x(): check\nelse:\n    def test_x(): solve\n",
    )
)


def _function(parts: tuple[str, list[str], str], indent: str = "") -> str:
    name, decorators, body = parts
    lines = [*decorators, f"def {name}(self):", f"    {body}"]
    return "".join(f"{indent}{line}\n" for line in lines)


@st.composite
def _class(draw: st.DrawFn) -> str:
    bases = ", ".join(draw(st.lists(st.sampled_from(_BASES), max_size=2, unique=True)))
    methods = "".join(_function(parts, "    ") for parts in draw(st.lists(_functions, max_size=3)))
    return f"class {draw(st.sampled_from(CLASSES))}({bases}):\n    x = add\n{methods}"


@st.composite
def sources(draw: st.DrawFn) -> str:
    """The text of one test file."""
    imports = "".join(f"from {module} import {name}\n" for module, name in draw(st.lists(_import, max_size=3)))
    parts = draw(st.lists(st.one_of(_class(), _functions.map(_function), _odd), max_size=4))
    return imports + "".join(parts)


_paths = st.sampled_from(
    [f"{folder}/{name}.py" for folder in ("test", "test/jit") for name in NAMES]
    + ["torch/testing/_internal/common_methods_invocations.py", "test/with space/test_a.py"]
)

#: A tree as a mapping of path to text.
trees = st.dictionaries(_paths, sources(), max_size=5)
#: Edits to it: a new text, or none for a file that goes.
edits = st.dictionaries(_paths, st.none() | sources(), min_size=1, max_size=3)
