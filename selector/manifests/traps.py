"""Where the framework's reading of a manifest surprises people, and the sentence that each surprise needs.

The traps are those of `oot-manifests.md` section 2. Every function here looks for one of them in one test's case; none
decides anything about the test. The sentences are held by tests word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from selector.manifests.dtypes import dtype_in_name
from selector.manifests.resolution import Trace, TraceCandidate
from selector.manifests.rules import EntryName, EntryRules, FileRules
from selector.manifests.schema import method_part
from selector.manifests.variants import listed_op
from selector.types import CollectedTest, Mode

_DEVICES = ("cpu", "cuda", "privateuse1", "meta")


class TrapKind(StrEnum):
    """What surprises, in the order in which it is told."""

    FILE_NOT_LISTED = "file_not_listed"
    FUNCTION_NOT_GOVERNED = "function_not_governed"
    CLASS_IGNORED = "class_ignored"
    HIDDEN_ENTRY = "hidden_entry"
    EXACT_BEFORE_PATTERN = "exact_before_pattern"
    GENERATED_NAME = "generated_name"
    GLOB_PATTERN = "glob_pattern"
    DTYPE_FROM_NAME = "dtype_from_name"
    FLOAT8_INVISIBLE = "float8_invisible"
    DOTTED_OPERATOR = "dotted_operator"
    EXCLUDED_BY_PREFIX = "excluded_by_prefix"
    ALLOW_LIST_NOT_APPLIED = "allow_list_not_applied"
    LABEL_MISMATCH = "label_mismatch"
    UNLISTED = "unlisted"
    FORCE_XFAIL_WITHOUT_EFFECT = "force_xfail_without_effect"


@dataclass(frozen=True, slots=True)
class Trap:
    """One surprise. `provenance` is the `manifest.yaml:line` that a maintainer has to look at."""

    kind: TrapKind
    provenance: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Case:
    """A test with what is said about its file and how the framework came to its answer. `siblings` are the collected
    variants of its base test, itself included."""

    test: CollectedTest
    rules: FileRules
    compat: Trace
    siblings: tuple[CollectedTest, ...]
    device: str
    test_type: str

    @property
    def name(self) -> str:
        return "::".join(part for part in (self.test.cls, self.test.base) if part)

    @property
    def entry(self) -> EntryRules | None:
        """The entry that was chosen."""
        chosen = self.compat.chosen
        return next(
            (one for one in self.rules.candidates(self.test.base) if chosen and one.index == chosen.entry), None
        )


def traps(case: Case) -> tuple[Trap, ...]:
    """All traps that this test is in."""
    if case.compat.resolution.rule == "not_governed":
        return tuple(_function(case))
    return tuple(trap for look in _LOOKS for trap in look(case))


def _function(case: Case) -> Iterator[Trap]:
    sentence = (
        f"`{case.test.base}` is a function and not a method of a test class, so the framework never asks the manifest "
        f"about it: it runs and must pass, whatever {case.rules.provenance} lists."
    )
    yield Trap(TrapKind.FUNCTION_NOT_GOVERNED, case.rules.provenance, sentence)


def _class_ignored(case: Case) -> Iterator[Trap]:
    chosen = case.compat.chosen
    if chosen is None or _written(case, chosen).is_for_class(case.test.cls):
        return
    sentence = (
        f"`{chosen.name}` ({chosen.provenance}) decides about `{case.name}`: the class half of a name is not compared, "
        f"so an entry takes `{case.test.base}` of every class in the file."
    )
    yield Trap(TrapKind.CLASS_IGNORED, chosen.provenance, sentence)


def _hidden(case: Case) -> Iterator[Trap]:
    chosen = case.compat.chosen
    if chosen is None:
        return
    for other in case.compat.candidates:
        if other.left_out or other.entry == chosen.entry or not _says_otherwise(case, other):
            continue
        by_pattern = _written(case, other).method is not None
        if by_pattern and _written(case, chosen).method is None:
            sentence = (
                f"The pattern `{other.name}` ({other.provenance}, {other.mode}) fits as well, but an exact name comes "
                f"before every pattern, wherever it stands: {chosen.provenance} decides, and neither the mode nor the "
                "tags of the pattern count."
            )
            yield Trap(TrapKind.EXACT_BEFORE_PATTERN, other.provenance, sentence)
        else:
            sentence = (
                f"`{other.name}` ({other.provenance}, {other.mode}) is hidden here by {chosen.provenance} "
                f"({chosen.mode}): one entry decides for each variant, and the mode, tags and labels of the others do "
                "not count. Only different `dtypes.include` tell two entries for one method apart."
            )
            yield Trap(TrapKind.HIDDEN_ENTRY, other.provenance, sentence)


def _generated_name(case: Case) -> Iterator[Trap]:
    bases = {test.base for test in case.siblings}
    for method, names in case.rules.exact.items():
        if method in bases or not method.startswith(f"{case.test.base}_") or not _is_variant(case, method):
            continue
        for name in names:
            sentence = (
                f"`{name.text}` ({name.entry.provenance}) never matches: names are compared with the method in the "
                f"source, `{case.test.base}`, before variants are generated from it. Write `{case.name}`, and narrow "
                "it by `edits.dtypes` and `edits.ops`."
            )
            yield Trap(TrapKind.GENERATED_NAME, name.entry.provenance, sentence)


def _glob(case: Case) -> Iterator[Trap]:
    for name in case.rules.patterns:
        text = method_part(name.text)
        if name.method is None or "*" not in text or name.method.fullmatch(case.test.base):
            continue
        if fnmatchcase(case.test.base, text):
            sentence = (
                f"`{name.text}` ({name.entry.provenance}) looks like a glob, but patterns are regular expressions and "
                f"have to match the whole name: it does not match `{case.test.base}`. Write "
                f"`{text.replace('*', '.*')}`."
            )
            yield Trap(TrapKind.GLOB_PATTERN, name.entry.provenance, sentence)


def _dtype_from_name(case: Case) -> Iterator[Trap]:
    read, told = case.compat.dtype, case.test.dtype
    if not read or read == told or "float8" in (told or ""):
        return
    # Where nothing was told, only a word of the base name is known to be no dtype of the test.
    if told is None and dtype_in_name(case.test.base) != read:
        return
    truth = f"it was generated for `{told}`" if told else f"it stands in the base name `{case.test.base}`"
    sentence = (
        f"The dtype is read out of the method name, the longest known word first: `{case.test.method}` is taken for "
        f"`{read}`, while {truth}. Ceiling, `dtypes.include`, `dtypes.exclude` and `force_xfail` see only `{read}`."
    )
    yield Trap(TrapKind.DTYPE_FROM_NAME, case.compat.resolution.provenance, sentence)


def _float8(case: Case) -> Iterator[Trap]:
    if case.rules.device.ceiling is None or "float8" not in f"{case.test.method} {case.test.dtype or ''}":
        return
    seen = f"only `{case.compat.dtype}` is seen" if case.compat.dtype else "no dtype is seen"
    sentence = (
        f"`{case.test.method}` is for a float8 dtype, which is not in the manifest's vocabulary: {seen}, so the "
        "ceiling of `supported_dtypes` does not hold it back. Skip it by its name, or let the strict profile decide."
    )
    yield Trap(TrapKind.FLOAT8_INVISIBLE, case.compat.resolution.provenance, sentence)


def _dotted(case: Case) -> Iterator[Trap]:
    op = _flat(case.test.op or case.compat.op)
    excluded = case.entry.excluded_ops if case.entry else ()
    for name in excluded:
        if op and "." in name and (op == _flat(name) or op.startswith(f"{_flat(name)}_")) and case.entry:
            sentence = (
                f"`{name}` in `ops.exclude` ({case.entry.provenance}) never matches: a generated name has underscores "
                f"for dots, so the operator is read as `{op}`. Write `{_flat(name)}`."
            )
            yield Trap(TrapKind.DOTTED_OPERATOR, case.entry.provenance, sentence)
    for name in sorted(case.rules.device.xfail_ops):
        if op and "." in name and op == _flat(name):
            where = _op_place(case, name)
            sentence = (
                f"`force_xfail` of `{name}` ({where}) never takes effect: a generated name has underscores for dots, "
                f"so the operator is read as `{op}`. List the test with mode `xfail` instead."
            )
            yield Trap(TrapKind.DOTTED_OPERATOR, where, sentence)


def _prefix(case: Case) -> Iterator[Trap]:
    if case.compat.resolution.rule != "op_excluded" or case.entry is None or case.compat.op in case.entry.excluded_ops:
        return
    name = next(one for one in case.entry.excluded_ops if case.compat.op.startswith(f"{one}_"))
    sentence = (
        f"`{name}` in `ops.exclude` ({case.entry.provenance}) takes `{case.compat.op}` with it: an excluded operator "
        f"takes everything that starts with `{name}_`, while `force_xfail` is for the exact name only."
    )
    yield Trap(TrapKind.EXCLUDED_BY_PREFIX, case.entry.provenance, sentence)


def _allow_list(case: Case) -> Iterator[Trap]:
    ops, where = case.rules.device.ops, case.rules.device.ops_provenance
    if ops is None or not (case.test.op or case.compat.op):
        return
    if not ops:
        sentence = (
            f"`supported_ops` ({where}) is an empty list, which allows every operator and not none: a filter that "
            "would leave nothing is not applied. Leave the key out, or list the operators."
        )
        yield Trap(TrapKind.ALLOW_LIST_NOT_APPLIED, where, sentence)
    elif case.test.op and not any(listed_op(test.op, ops) for test in case.siblings):
        sentence = (
            f"`{case.test.op}` is not in `supported_ops` ({where}) and runs all the same: none of the operators of "
            f"`{case.test.base}` is, and a filter that would leave nothing is not applied. Skip the test by its name."
        )
        yield Trap(TrapKind.ALLOW_LIST_NOT_APPLIED, where, sentence)


def _label(case: Case) -> Iterator[Trap]:
    if case.compat.resolution.rule != "label_mismatch" or case.entry is None:
        return
    sentence = (
        f"The test is taken away because the labels of {case.entry.provenance} ({_words(case.entry.labels)}) do not "
        f"hold the test type `{case.test_type}`. Labels only filter; they play no part in choosing the entry, so "
        "another entry with the right label does not step in."
    )
    yield Trap(TrapKind.LABEL_MISMATCH, case.entry.provenance, sentence)


def _unlisted(case: Case) -> Iterator[Trap]:
    if case.compat.chosen is not None:
        return
    sentence = (
        f"No entry lists `{case.test.base}`, so the `unlisted_test_mode` of the file holds: "
        f"`{case.rules.unlisted}` ({case.rules.provenance}). A block without that key has `xfail`: its unlisted tests "
        "run and are expected to fail."
    )
    yield Trap(TrapKind.UNLISTED, case.rules.provenance, sentence)


def _force_xfail(case: Case) -> Iterator[Trap]:
    mode, device = case.entry.mode if case.entry else case.rules.unlisted, case.rules.device
    if mode in {Mode.MANDATORY_SUCCESS, Mode.XFAIL}:
        return
    forced = [
        f"{kind} `{word}`"
        for kind, word, words in (
            ("operator", case.compat.op, device.xfail_ops),
            ("dtype", case.compat.dtype, device.xfail_dtypes),
        )
        if word in words
    ]
    for what in forced:
        where = case.entry.provenance if case.entry else case.rules.provenance
        sentence = (
            f"`force_xfail` of the {what} changes nothing here: it weakens `mandatory_success` only, and {where} says "
            f"`{mode}`."
        )
        yield Trap(TrapKind.FORCE_XFAIL_WITHOUT_EFFECT, where, sentence)


def _written(case: Case, candidate: TraceCandidate) -> EntryName:
    """The compiled name behind a candidate."""
    names = case.rules.matches(case.test.base)
    return next(name for name in names if name.entry.index == candidate.entry and name.text == candidate.name)


def _says_otherwise(case: Case, other: TraceCandidate) -> bool:
    """Whether it would make a difference if the other entry decided."""
    entry, chosen = _written(case, other).entry, case.entry
    if chosen is None:
        return True
    return (entry.mode, entry.tags, entry.labels) != (chosen.mode, chosen.tags, chosen.labels)


def _is_variant(case: Case, listed: str) -> bool:
    """Whether a listed name is this test's generated name or a part of it, on whatever device."""
    method = _device_free(case.test.method, case.device)
    listed = _device_free(listed, case.device)
    return method == listed or method.startswith(f"{listed}_")


def _device_free(method: str, device: str) -> str:
    words = {*_DEVICES, device}
    return "_".join("*" if word in words else word for word in method.split("_"))


def _op_place(case: Case, name: str) -> str:
    ops = case.rules.device.ops or {}
    return ops[name].provenance if name in ops else case.rules.device.ops_provenance


def _flat(op: str) -> str:
    return op.replace(".", "_")


def _words(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


_LOOKS: tuple[Callable[[Case], Iterator[Trap]], ...] = (
    _class_ignored,
    _hidden,
    _generated_name,
    _glob,
    _dtype_from_name,
    _float8,
    _dotted,
    _prefix,
    _allow_list,
    _label,
    _unlisted,
    _force_xfail,
)
