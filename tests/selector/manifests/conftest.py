"""Short ways to write a manifest and to load it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Protocol

import pytest

from selector.manifests import ManifestDocument, ManifestError, ManifestSet, load_manifests

HEAD = """\
test_suite_config:
  labels: [unit]
  files:
    - path: ${TORCH_ROOT}/test/test_things.py
      unlisted_test_mode: %s
      tests:
"""


class LoadEntries(Protocol):
    """Load a manifest with one block about `test/test_things.py`; its first entry starts in line 7."""

    def __call__(self, tests: str, supported: str = "", unlisted: str = "skip") -> ManifestSet: ...


@pytest.fixture
def load() -> Callable[[str], ManifestSet]:
    """Load one manifest called `m.yaml`."""

    def load_one(text: str) -> ManifestSet:
        return load_manifests([ManifestDocument("m.yaml", textwrap.dedent(text))])

    return load_one


@pytest.fixture
def refuse() -> Callable[[str], list[str]]:
    """The findings, as printed, of one manifest called `m.yaml` that must not load."""

    def refuse_one(text: str) -> list[str]:
        with pytest.raises(ManifestError) as caught:
            load_manifests([ManifestDocument("m.yaml", textwrap.dedent(text))])
        return [str(finding) for finding in caught.value.findings]

    return refuse_one


@pytest.fixture
def load_entries() -> LoadEntries:
    """Load a manifest from its `tests` and what stands below `global`."""

    def load_one(tests: str, supported: str = "", unlisted: str = "skip") -> ManifestSet:
        text = HEAD % unlisted + textwrap.indent(textwrap.dedent(tests).strip("\n"), " " * 8) + "\n"
        if supported:
            text += "  global:\n" + textwrap.indent(textwrap.dedent(supported).strip("\n"), " " * 4) + "\n"
        return load_manifests([ManifestDocument("m.yaml", text)])

    return load_one
