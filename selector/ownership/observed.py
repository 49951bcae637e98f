"""The rule for what was seen: tests that used a changed operator when they last ran on the device.

What was seen is incomplete (tests that never ran here are unknown) and told by processes that run untrusted code, so it
can only add tests that exist: it makes none must-run, and a file that nothing else ties to a test stays untied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selector.catalog import Catalog, CatalogTest
from selector.change import ChangeSet, FileChange
from selector.known import ObservedTests
from selector.ownership.links import Link, link, too_common

#: Operators asked about in one selection; a change of more than these is found by the other rules.
MAX_ASKED = 200

#: Where upstream writes operators down in Python: wrappers, reference implementations, decompositions, lowerings.
_DEFINING = re.compile(
    r"torch/((_refs|_decomp|_prims|special|linalg|fft)/.*|_inductor/(decomposition|lowering)|_meta_registrations"
    r"|(nn/)?functional)\.py$"
)
#: Where upstream lists them: the schema's line, and the line of a formula for its derivative.
_LISTED = (
    ("native/native_functions.yaml", re.compile(r"^[+-]\s*- func: (\w+)", re.MULTILINE)),
    ("autograd/derivatives.yaml", re.compile(r"^[+-]\s*- name: (\w+)", re.MULTILINE)),
)


def observed_links(change: ChangeSet, catalog: Catalog, observed: ObservedTests) -> Iterator[Link]:
    """Tests that were seen to use an operator which the change touches. Asks once for the whole change."""
    origin: dict[str, FileChange] = {}
    for file in change.relevant:
        for operator in operators_of(file):
            origin.setdefault(operator, file)
    if not origin:
        return
    by_name: dict[str, CatalogTest] = {str(test.test): test for test in catalog}
    answer = observed.tests_using(list(origin)[:MAX_ASKED])
    for operator in sorted(origin.keys() & answer.keys()):
        users = [by_name[name] for name in sorted(answer[operator]) if name in by_name]
        common = too_common(len(users), catalog)
        evidence = f"used {operator} on the device, which {origin[operator].path} changes"
        for test in users:
            yield link(test, "observed operator", evidence, 0.25 if common else 0.6)


def operators_of(file: FileChange) -> list[str]:
    """The operators that a file's changed names stand for, with their in-place forms."""
    names: list[str] = []
    if _DEFINING.match(file.path):
        names += [reached.name for reached in file.reached]
    for place, listed in _LISTED:
        if file.path.endswith(place):
            names += listed.findall(file.text)
    spaces = ("aten", "prims") if file.path.startswith("torch/_prims") else ("aten",)
    plain = [name for name in dict.fromkeys(names) if name.isidentifier()]
    return [f"{space}::{form}" for name in plain for space in spaces for form in (name, f"{name}_")]
