"""Traps in how dtypes and operators are seen and filtered (`oot-manifests.md` 2.4 to 2.6), each with its sentence."""

from __future__ import annotations

from collections.abc import Iterator

from selector.manifests.dtypes import dtype_in_name, dtypes_in_word
from selector.manifests.explaining.trap_case import Case, Trap, TrapKind
from selector.manifests.variants import listed_op
from selector.types import Mode


def dtype_from_name(case: Case) -> Iterator[Trap]:
    """A dtype that is only a word of the name, or one of several (2.5)."""
    read, told = case.compat.dtype, case.test.dtype
    if not read or read == told or "float8" in (told or ""):
        return
    # Where nothing was told, only a word of the base name is known to be no dtype of the test.
    if told is None and dtype_in_name(case.test.base) != read:
        return
    truth = f"it stands in the base name `{case.test.base}`"
    if told:
        truth = f"it was generated for {' and '.join(f'`{dtype}`' for dtype in dtypes_in_word(told))}"
    sentence = (
        f"The dtype is read out of the method name, the longest known word first: `{case.test.method}` is taken for "
        f"`{read}`, while {truth}. Ceiling, `dtypes.include`, `dtypes.exclude` and `force_xfail` see only `{read}`."
    )
    yield Trap(TrapKind.DTYPE_FROM_NAME, case.compat.resolution.provenance, sentence)


def float8(case: Case) -> Iterator[Trap]:
    """A dtype that the ceiling does not see (2.5)."""
    if case.rules.device.ceiling is None or "float8" not in f"{case.test.method} {case.test.dtype or ''}":
        return
    seen = f"only `{case.compat.dtype}` is seen" if case.compat.dtype else "no dtype is seen"
    sentence = (
        f"`{case.test.method}` is for a float8 dtype, which is not in the manifest's vocabulary: {seen}, so the "
        "ceiling of `supported_dtypes` does not hold it back. Skip it by its name, or let the strict profile decide."
    )
    yield Trap(TrapKind.FLOAT8_INVISIBLE, case.compat.resolution.provenance, sentence)


def dotted_operator(case: Case) -> Iterator[Trap]:
    """An operator that is never met by the name it has (2.5)."""
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


def _op_place(case: Case, name: str) -> str:
    ops = case.rules.device.ops or {}
    return ops[name].provenance if name in ops else case.rules.device.ops_provenance


def _flat(op: str) -> str:
    return op.replace(".", "_")


def excluded_by_prefix(case: Case) -> Iterator[Trap]:
    """An operator that is excluded because of how it starts (2.4)."""
    if case.compat.resolution.rule != "op_excluded" or case.entry is None or case.compat.op in case.entry.excluded_ops:
        return
    name = next(one for one in case.entry.excluded_ops if case.compat.op.startswith(f"{one}_"))
    sentence = (
        f"`{name}` in `ops.exclude` ({case.entry.provenance}) takes `{case.compat.op}` with it: an excluded operator "
        f"takes everything that starts with `{name}_`, while `force_xfail` is for the exact name only."
    )
    yield Trap(TrapKind.EXCLUDED_BY_PREFIX, case.entry.provenance, sentence)


def allow_list(case: Case) -> Iterator[Trap]:
    """An allow-list that is not applied (2.6)."""
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


def force_xfail(case: Case) -> Iterator[Trap]:
    """A forced xfail that changes nothing (2.4)."""
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
