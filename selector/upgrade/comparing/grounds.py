"""What is no single test's business: the harness, and the parts of the library that set the scene in every test.

A change of these is told once in the notes of a comparison, for otherwise it would be told for every test, and nobody
could see what else changed. The tables name what upstream's tests stand on, not what any test is about.
"""

from __future__ import annotations

import re

from selector.upgrade.comparing.names import Symbol

#: Tests of this many files have a definition of the harness in common before it counts as every test's.
HARNESS_FILES = 20

#: Methods that run around every test of a class.
FIXTURES = ("setUp", "setUpClass", "tearDown", "tearDownClass", "setup_method")

_HELPING = re.compile(r"(?:functorch/)?test/|torch/testing/")
_HARNESS = re.compile(r"torch/testing/_internal/")
#: Databases that generate tests; their entries are compared one by one (`selector.upgrade.operators.differences`).
_DATABASES = re.compile(
    r"torch/testing/_internal/(?:common_methods_invocations|common_modules|common_optimizers|opinfo/.*)\.py$"
)
#: Modules that give tests something to work on, switch a mode around them, or ask about the machine.
_SCENERY = re.compile(
    r"torch/(?:_ops|_tensor|_tensor_str|random|types|version|storage|autograd/grad_mode|nn/parameter|nn/modules/module"
    r"|(?:cuda|xpu|mps|mtia)/(?:__init__|random)|backends/.*/__init__|utils/_contextlib|utils/_import_utils|utils/_pytree"
    r"|_utils|_C/.*|__init__)\.py$"
)


def is_helping(path: str) -> bool:
    """Whether a file stands among the tests or in what they are made with."""
    return _HELPING.match(path) is not None


def is_harness(path: str) -> bool:
    """Whether a file is of the harness that tests run on."""
    return _HARNESS.match(path) is not None


def is_scenery(path: str) -> bool:
    """Whether a module of the library sets the scene for tests of anything."""
    return _SCENERY.match(path) is not None


def is_common_ground(symbol: Symbol) -> bool:
    """Whether a definition is never told for a single test. Of the harness these are the databases, and what its test
    cases do around every test or judge results by; what else it offers a test may be the only one to use."""
    if is_scenery(symbol.path) or _DATABASES.match(symbol.path):
        return True
    cls, _, method = symbol.name.rpartition(".")
    around = method in FIXTURES or method.startswith("assert")
    return is_harness(symbol.path) and (symbol.name.partition(".")[0] == "TestCase" or bool(cls and around))
