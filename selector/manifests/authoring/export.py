"""Compiles a table into PyTorch's own mechanism, one call of `set_test_configs` (`oot-manifests.md` 3.3 and 7.5).

That mechanism knows tests that are not generated and nothing else, and every call replaces the configuration of the
one before. What it can not express is counted and said; it stays with the relay's runner. Source of the call's form:
https://docs.pytorch.org/docs/main/accelerator/testing.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from selector.manifests.dtypes import dtypes_in_word
from selector.manifests.load import ManifestSet
from selector.manifests.resolution import Resolution, Table
from selector.types import CollectedTest, Mode

#: Class -> base method -> dtypes that are not generated; no dtypes: the method is not generated at all.
Exclusions: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]

_NOT_SUPPORTED = "op_not_supported"
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class TestConfigs:
    """The arguments of the call. `operators` None: all are generated. `notes` say what the call can not express."""

    __test__ = False
    operators: tuple[str, ...] | None
    exclusions: Exclusions
    notes: tuple[str, ...] = ()

    def generates(self, test: CollectedTest) -> bool:
        """Whether PyTorch would generate this test for the device under the configuration."""
        if self.operators is not None and test.op is not None and test.op not in self.operators:
            return False
        dtypes = self.exclusions.get(test.cls, {}).get(test.base)
        if dtypes is None:
            return True
        return bool(dtypes) and not set(dtypes) & set(dtypes_in_word(test.dtype or ""))

    def python(self, comment: str = "") -> str:
        """The call as a Python module."""
        with_dtypes = any(dtypes for methods in self.exclusions.values() for dtypes in methods.values())
        head = "".join(f"# {line}\n" for line in comment.splitlines())
        imports = "import torch\n" if with_dtypes else ""
        imports += "from torch.testing._internal.common_device_type import PrivateUse1TestBase\n"
        arguments = "".join(f"{_INDENT}{line}\n" for line in self._arguments())
        return f"{head}{imports}\nPrivateUse1TestBase.set_test_configs(\n{arguments})\n"

    def _arguments(self) -> Iterator[str]:
        if self.operators is not None:
            yield "op_allowlist=["
            yield from (f"{_INDENT}{op!r}," for op in self.operators)
            yield "],"
        yield "test_exclusions={"
        for cls, methods in self.exclusions.items():
            opened, closed = "{}" if any(methods.values()) else "[]"
            yield f"{_INDENT}{cls!r}: {opened}"
            yield from (f"{_INDENT * 2}{_method(method, dtypes)}," for method, dtypes in methods.items())
            yield f"{_INDENT}{closed},"
        yield "},"


def _method(name: str, dtypes: Sequence[str]) -> str:
    listed = ", ".join(f"torch.{dtype}" for dtype in dtypes)
    return f'{name!r}: {{"dtypes": [{listed}]}}' if dtypes else repr(name)


def export(
    tests: Sequence[CollectedTest], table: Table, manifests: ManifestSet, *, by_dtype: bool = False
) -> TestConfigs:
    """The configuration under which PyTorch generates what the table lets run, as far as it can be told.

    `table` has a row for each of `tests`. `by_dtype` allows exclusions of single dtypes, which PyTorch 2.13 takes for
    the whole method, and later versions for what they say.
    """
    operators = _operators(tests, table, manifests)
    exclusions: dict[str, dict[str, tuple[str, ...]]] = {}
    for (cls, base), variants in _by_method(tests).items():
        skipped = [test for test in variants if _is_skipped(table, test)]
        dtypes = _excluded(skipped, variants, by_dtype=by_dtype)
        if dtypes is not None:
            exclusions.setdefault(cls, {})[base] = dtypes
    shown = {cls: dict(_told_alike(methods, cls, tests)) for cls, methods in exclusions.items()}
    configs = TestConfigs(operators, {cls: methods for cls, methods in shown.items() if methods})
    return TestConfigs(configs.operators, configs.exclusions, tuple(_notes(configs, tests, table)))


def _is_skipped(table: Table, test: CollectedTest) -> bool:
    return table.by_id[test.id].mode is Mode.SKIP


def _by_method(tests: Iterable[CollectedTest]) -> dict[tuple[str, str], list[CollectedTest]]:
    """Variants by class and base method, whatever their file: the mechanism does not ask for it. Functions outside
    any class are none of its business."""
    found: dict[tuple[str, str], list[CollectedTest]] = {}
    for test in sorted((test for test in tests if test.cls), key=lambda test: (test.cls, test.base, test.id)):
        found.setdefault((test.cls, test.base), []).append(test)
    return found


def _excluded(
    skipped: Sequence[CollectedTest], variants: Sequence[CollectedTest], *, by_dtype: bool
) -> tuple[str, ...] | None:
    """The dtypes to leave out of a method, none of them: all of it; None when nothing can be left out."""
    if len(skipped) == len(variants):
        return ()
    if not skipped or not by_dtype:
        return None
    running = {dtype for test in variants if test not in skipped for dtype in _dtypes(test)}
    alone = {dtype for test in skipped for dtype in _dtypes(test)} - running
    return tuple(sorted(alone)) or None


def _told_alike(
    methods: Mapping[str, tuple[str, ...]], cls: str, tests: Sequence[CollectedTest]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A class is described by methods or by dtypes of methods. With dtypes, a whole method is all dtypes it has; one
    that has none can not be said."""
    if not any(methods.values()):
        yield from methods.items()
        return
    for method, dtypes in methods.items():
        variants = [test for test in tests if (test.cls, test.base) == (cls, method)]
        told = dtypes or tuple(sorted({dtype for test in variants for dtype in _dtypes(test)}))
        if told:
            yield method, told


def _dtypes(test: CollectedTest) -> tuple[str, ...]:
    """Told dtypes that are names of Python, as they become code."""
    return tuple(dtype for dtype in dtypes_in_word(test.dtype or "") if dtype.isidentifier())


def _operators(tests: Sequence[CollectedTest], table: Table, manifests: ManifestSet) -> tuple[str, ...] | None:
    """The allow-list by full names. The manifest's plain names stand for their variants, so the variants are added."""
    refused = {test.op for test in tests if test.op and table.by_id[test.id].rule == _NOT_SUPPORTED}
    if not refused:
        return None
    rules = filter(None, (manifests.rules(file) for file in {test.file for test in tests}))
    listed = {op for one in rules for op in one.device.ops or ()}
    return tuple(sorted((listed | {test.op for test in tests if test.op}) - refused))


def _notes(configs: TestConfigs, tests: Sequence[CollectedTest], table: Table) -> Iterator[str]:
    rows = [(test, table.by_id[test.id]) for test in tests]
    kept = Counter(row.rule for test, row in rows if row.mode is Mode.SKIP and configs.generates(test))
    for rule, count in sorted(kept.items()):
        yield f"{count} skipped by `{rule}` would run: neither a whole method nor an operator stands for them"
    if lost := sum(row.mode is not Mode.SKIP and not configs.generates(test) for test, row in rows):
        yield f"{lost} that should run would not be generated: the operator allow-list is one for all tests"
    if unlisted := sum(row.rule == "unlisted" and row.mode is Mode.SKIP for _, row in rows):
        yield f"{unlisted} are left out because they are unlisted: tests that upstream adds later will run"
    running = [row for _, row in rows if row.mode is not Mode.SKIP]
    for words, count in _left_behind(running):
        if count:
            yield f"{count} {words}, which only the relay's runner knows"


def _left_behind(running: Sequence[Resolution]) -> Iterator[tuple[str, int]]:
    yield "are expected to fail", sum(row.mode is not Mode.MANDATORY_SUCCESS for row in running)
    yield "have tags", sum(bool(row.tags) for row in running)
    yield "have tolerances", sum(row.tolerance is not None for row in running)
