"""Tools that answer from what the earlier stages know: `test_history`, `op_info`, `manifest_lookup`, `diff_hunk`.

Tests and changed files are asked for by the short ids of the question, so a call can name nothing that was not offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from selector.catalog import Catalog
from selector.change import FileChange
from selector.known import ObservedTests
from selector.manifests import ManifestSet
from selector.ownership.observed import MAX_ASKED, operators_of
from selector.trees import SourceTree
from selector.triage.band import Group
from selector.triage.tools import Parameter, Tool, ToolError

_HUNK_LINES = 150
_LINE_CAP = 240
_ENTRY_LINES = 14
_ENTRIES_CAP = 6
_REASON_CAP = 400
#: Tests of a group that a tool tells of.
_TESTS_TOLD = 10
_OPERATOR = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_OPERATOR_FILES = re.compile(r"torch/testing/_internal/(common_methods_invocations|common_modules|opinfo/.*)\.py")
_SCHEMAS = "aten/src/ATen/native/native_functions.yaml"


@dataclass
class Knowledge:
    """What is known about the question: `tests` and `files` by short id, and where it comes from."""

    tests: Mapping[str, Group]
    files: Mapping[str, FileChange]
    catalog: Catalog
    tree: SourceTree
    manifests: ManifestSet | None = None
    observed: ObservedTests | None = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The four tools."""
        test = Parameter(str, "id of a candidate, for example t1")
        return (
            Tool(
                "test_history",
                "Why a candidate is linked to the change, and which changed operators it used when it last ran.",
                {"test": test},
                self.test_history,
            ),
            Tool(
                "op_info",
                "An operator: whether the test database has it, its entries there, and its schemas.",
                {"op": Parameter(str, "name, for example linalg.solve")},
                self.op_info,
            ),
            Tool(
                "manifest_lookup",
                "What the device's manifests say about a candidate.",
                {"test": test},
                self.manifest_lookup,
            ),
            Tool(
                "diff_hunk",
                f"Changed lines of a changed file, at most {_HUNK_LINES}.",
                {
                    "file": Parameter(str, "id of a changed file, for example f1"),
                    "start": Parameter(int, "first changed line to show, from 1", 1),
                },
                self.diff_hunk,
            ),
        )

    def test_history(self, test: str) -> str:
        lines: dict[str, None] = {}
        for candidate in self._group(test).candidates[:_TESTS_TOLD]:
            for reason in candidate.reasons:
                lines[f"linked: {reason.rule}: {reason.evidence}"[:_REASON_CAP]] = None
            for operator in self._used.get(str(candidate.test), ()):
                lines[f"{candidate.test} used {operator} on the device"[:_REASON_CAP]] = None
        return "\n".join(lines) or "nothing is recorded"

    def op_info(self, op: str) -> str:
        if not _OPERATOR.fullmatch(op):
            raise ToolError("op has to be the name of an operator")
        known = self.catalog.operators
        if known is None:
            listed = "the tree has no operator database"
        else:
            listed = "in the operator database" if op in known else "not in the operator database"
        return "\n".join((f"{op}: {listed}", *self._entries(op)))

    def manifest_lookup(self, test: str) -> str:
        group = self._group(test)
        if self.manifests is None:
            return "no manifests are in use"
        rules = self.manifests.rules(group.candidates[0].test.file)
        if rules is None:
            return "no manifest lists the file"
        names = (name for it in group.candidates[:_TESTS_TOLD] for name in rules.matches(it.test.name))
        said = dict.fromkeys(f"{name.entry.provenance}: {name.text}: {name.entry.mode}"[:_REASON_CAP] for name in names)
        return "\n".join((f"{rules.provenance}: unlisted tests are {rules.unlisted}", *said))

    def diff_hunk(self, file: str, start: int) -> str:
        change = self.files.get(file)
        if change is None:
            raise ToolError("no changed file has this id")
        lines = change.text.split("\n")
        if start > len(lines):
            raise ToolError(f"the file has {len(lines)} changed lines")
        shown = lines[start - 1 : start - 1 + _HUNK_LINES]
        return "\n".join(f"{number}: {line[:_LINE_CAP]}" for number, line in enumerate(shown, start=start))

    def _group(self, test: str) -> Group:
        group = self.tests.get(test)
        if group is None:
            raise ToolError("no candidate has this id")
        return group

    @cached_property
    def _used(self) -> Mapping[str, Sequence[str]]:
        """Operators of the change that each test was seen to use; asked for once."""
        operators = list(dict.fromkeys(name for file in self.files.values() for name in operators_of(file)))
        if self.observed is None or not operators:
            return {}
        answer = self.observed.tests_using(operators[:MAX_ASKED])
        used: dict[str, list[str]] = {}
        for operator in sorted(answer):
            for test in answer[operator]:
                used.setdefault(test, []).append(operator)
        return used

    def _entries(self, op: str) -> Iterator[str]:
        count = 0
        for path, mark in self._places(op):
            lines = (self.tree.read(path) or "").split("\n")
            for number in (number for number, line in enumerate(lines) if mark.search(line)):
                if count == _ENTRIES_CAP:
                    yield "[more not shown]"
                    return
                count += 1
                shown = lines[number : number + _ENTRY_LINES]
                yield f"{path}:{number + 1}:"
                yield from (line[:_LINE_CAP] for line in shown)

    def _places(self, op: str) -> Iterator[tuple[str, re.Pattern[str]]]:
        entry = re.compile(rf"""(?:Info\(|^)\s*["']{re.escape(op)}["'],""")
        for path in self._databases:
            yield path, entry
        yield _SCHEMAS, re.compile(rf"^\s*- func: {re.escape(op)}[.(]")

    @cached_property
    def _databases(self) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.tree.paths() if _OPERATOR_FILES.fullmatch(path)))
