"""Two small trees, their tests and operators, and a manifest about them, for the tests of duties."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from selector.catalog import build_catalog
from selector.manifests import ManifestDocument, ManifestSet, load_manifests
from selector.types import BaseTest
from selector.upgrade.assessing.side import Side
from selector.upgrade.operators.table import OperatorEntry, OperatorTable
from selector.upgrade.types import ChangedTest, Evidence, Place, TestChange
from tests.selector.upstream import MemoryTree

FILE = "test/test_things.py"
CLASS = "TestThings"


def things(*methods: str, end: str = f"instantiate_device_type_tests({CLASS}, globals())") -> str:
    """The source of a test file with one class; each method with its decorators on lines before it."""
    body = "\n".join(textwrap.indent(textwrap.dedent(method).strip("\n"), "    ") for method in methods)
    return f"class {CLASS}(TestCase):\n{body}\n\n{end}\n"


def side(files: Mapping[str, str] | str, operators: Mapping[str, str] | None = None) -> Side:
    """A tree, or one with a single test file. `operators`: dtypes by name, in `op_db`."""
    tree = MemoryTree({FILE: files} if isinstance(files, str) else files)
    entries = {
        name: OperatorEntry(name, "OpInfo", Place("db.py"), frozenset(dtypes.split()), None)
        for name, dtypes in (operators or {}).items()
    }
    return Side(tree, build_catalog(tree), OperatorTable(entries, {"op_db": tuple(entries)}))


def manifest(entries: str, unlisted: str = "skip", more: str = "") -> ManifestDocument:
    """A manifest about the test file."""
    text = f"""\
test_suite_config:
  files:
    - path: ${{TORCH_ROOT}}/{FILE}
      unlisted_test_mode: {unlisted}
      tests:
{textwrap.indent(textwrap.dedent(entries).strip(), " " * 8)}
{textwrap.indent(textwrap.dedent(more).strip(), " " * 2)}
"""
    return ManifestDocument("m.yaml", f"{text.rstrip()}\n")


def loaded(entries: str, unlisted: str = "skip", more: str = "") -> ManifestSet:
    """The same, loaded."""
    return load_manifests([manifest(entries, unlisted, more)])


def named(name: str, cls: str = CLASS, file: str = FILE) -> BaseTest:
    """A test of the file."""
    return BaseTest(file, cls, name)


def changed(name: str, *changes: TestChange, evidence: Evidence | None = None) -> ChangedTest:
    """A test of the file and what became of it."""
    return ChangedTest(named(name), changes, (evidence,) if evidence is not None else ())
