"""Traps in how names are matched and entries chosen (`oot-manifests.md` 2.2 to 2.4), each with its sentence."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from selector.manifests.explaining.trap_case import Case, Trap, TrapKind
from selector.manifests.resolution import TraceCandidate
from selector.manifests.schema import method_part

_DEVICES = ("cpu", "cuda", "privateuse1", "meta")


def function_not_governed(case: Case) -> Iterator[Trap]:
    """A function, about which no manifest is asked (2.2)."""
    sentence = (
        f"`{case.test.base}` is a function and not a method of a test class, so the framework never asks the manifest "
        f"about it: it runs and must pass, whatever {case.rules.provenance} lists."
    )
    yield Trap(TrapKind.FUNCTION_NOT_GOVERNED, case.rules.provenance, sentence)


def class_ignored(case: Case) -> Iterator[Trap]:
    """An entry for one class decides about another (2.2)."""
    chosen = case.compat.chosen
    if chosen is None or case.written(chosen).is_for_class(case.test.cls):
        return
    sentence = (
        f"`{chosen.name}` ({chosen.provenance}) decides about `{case.name}`: the class half of a name is not compared, "
        f"so an entry takes `{case.test.base}` of every class in the file."
    )
    yield Trap(TrapKind.CLASS_IGNORED, chosen.provenance, sentence)


def hidden(case: Case) -> Iterator[Trap]:
    """Entries that fit and do not count, exact names or patterns (2.2, 2.3)."""
    chosen = case.compat.chosen
    if chosen is None:
        return
    for other in case.compat.candidates:
        if other.left_out or other.entry == chosen.entry or not _would_change_something(case, other):
            continue
        by_pattern = case.written(other).method is not None
        if by_pattern and case.written(chosen).method is None:
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


def _would_change_something(case: Case, other: TraceCandidate) -> bool:
    """Whether the other entry is for this variant too, and says something else than the chosen one. One that includes
    other dtypes is not hidden: that is how two entries for one method are written."""
    entry, chosen = case.written(other).entry, case.entry
    if entry.included and case.compat.dtype not in entry.included:
        return False
    return chosen is None or (entry.mode, entry.tags, entry.labels) != (chosen.mode, chosen.tags, chosen.labels)


def generated_name(case: Case) -> Iterator[Trap]:
    """A listed name that only a generated test has (2.2)."""
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


def _is_variant(case: Case, listed: str) -> bool:
    """Whether a listed name is this test's generated name or a part of it, on whatever device."""
    method = _device_free(case.test.method, case.device)
    listed = _device_free(listed, case.device)
    return method == listed or method.startswith(f"{listed}_")


def _device_free(method: str, device: str) -> str:
    words = {*_DEVICES, device}
    return "_".join("*" if word in words else word for word in method.split("_"))


def glob_pattern(case: Case) -> Iterator[Trap]:
    """A pattern that was written as a glob (2.2)."""
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


def label_mismatch(case: Case) -> Iterator[Trap]:
    """Labels that take the test away (2.4)."""
    if case.compat.resolution.rule != "label_mismatch" or case.entry is None:
        return
    sentence = (
        f"The test is taken away because the labels of {case.entry.provenance} ({_words(case.entry.labels)}) do not "
        f"hold the test type `{case.test_type}`. Labels only filter; they play no part in choosing the entry, so "
        "another entry with the right label does not step in."
    )
    yield Trap(TrapKind.LABEL_MISMATCH, case.entry.provenance, sentence)


def unlisted(case: Case) -> Iterator[Trap]:
    """What holds for a test that nothing lists (2.3)."""
    if case.compat.chosen is not None:
        return
    sentence = (
        f"No entry lists `{case.test.base}`, so the `unlisted_test_mode` of the file holds: "
        f"`{case.rules.unlisted}` ({case.rules.provenance}). A block without that key has `xfail`: its unlisted tests "
        "run and are expected to fail."
    )
    yield Trap(TrapKind.UNLISTED, case.rules.provenance, sentence)


def _words(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
