"""What a manifest has to say about one base test, given what was seen of its variants.

A base test that works needs nothing said. Where variants differ, the ways to write it are proposed from the finest to
the coarsest; the first that means what was seen is taken, and the coarsest is taken in any case, because a manifest can
not tell variants by a parameter. Coarse means on the safe side: nothing that fails is required, nothing that brings
the process down is run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.dtypes import dtype_in_name, op_in_name
from selector.types import CollectedTest, Mode

REASON_CHARACTERS = 200
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


class Seen(StrEnum):
    """What all attempts at a test come to. A test that skips itself says nothing about the device."""

    WORKS = "works"
    FAILS = "fails"
    DIES = "crashes or hangs"
    SILENT = "skips itself"


_WORST_FIRST = (
    (frozenset({Observation.CRASHED, Observation.TIMED_OUT}), Seen.DIES),
    (frozenset({Observation.FAILED}), Seen.FAILS),
    (frozenset({Observation.PASSED}), Seen.WORKS),
    (frozenset({Observation.SKIPPED}), Seen.SILENT),
)
_MODE = {
    Seen.WORKS: Mode.MANDATORY_SUCCESS,
    Seen.SILENT: Mode.MANDATORY_SUCCESS,
    Seen.FAILS: Mode.XFAIL,
    Seen.DIES: Mode.SKIP,
}


@dataclass(frozen=True, slots=True)
class SeenTest:
    """A collected test, what it came to, and the first line it failed with."""

    test: CollectedTest
    seen: Seen
    detail: str = ""

    @property
    def dtype(self) -> str | None:
        """The dtype word as a manifest is matched with it."""
        return dtype_in_name(self.test.method)

    def agrees_with(self, mode: Mode) -> bool:
        """Whether a mode says what was seen."""
        return self.seen is Seen.SILENT or mode is _MODE[self.seen]


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to be written. `include` empty: for every dtype."""

    names: tuple[str, ...]
    mode: Mode
    include: tuple[str, ...] = ()
    excluded_dtypes: tuple[str, ...] = ()
    excluded_ops: tuple[str, ...] = ()
    reason: str = ""
    issue: str = ""
    tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def data(self) -> dict[str, object]:
        """Plain data in the order in which people read an entry."""
        dtypes = {"include": _named(self.include), "exclude": _named(self.excluded_dtypes)}
        edits = {"dtypes": _filled(dtypes), "ops": _filled({"exclude": _named(self.excluded_ops)})}
        written = {"names": list(self.names), "mode": self.mode.value, "tags": list(self.tags)}
        more = {"labels": list(self.labels), "edits": _filled(edits), "reason": self.reason, "issue": self.issue}
        return _filled({**written, **more})


Entries = tuple[NewEntry, ...]
#: What the tests at hand resolve to when these entries are written.
Judge = Callable[[Entries], Mapping[str, Mode]]


def seen_tests(observed: Iterable[ObservedTest]) -> tuple[SeenTest, ...]:
    """One for each test that was observed, by its worst attempt, in the order of ids."""
    by_id: dict[str, list[ObservedTest]] = {}
    for one in observed:
        by_id.setdefault(one.id, []).append(one)
    found = (_worst(by_id[test_id]) for test_id in sorted(by_id))
    return tuple(one for one in found if one is not None)


def _worst(attempts: Sequence[ObservedTest]) -> SeenTest | None:
    for observations, seen in _WORST_FIRST:
        matching = [one for one in attempts if one.observation in observations]
        if matching:
            detail = next((one.detail for one in matching if one.detail), "")
            return SeenTest(matching[0].test, seen, _first_line(detail) or matching[0].observation.replace("_", " "))
    return None


def treat(variants: Sequence[SeenTest], device: str, judge: Judge) -> tuple[Entries, bool]:
    """The entries for the variants of one base test, and whether they say exactly what was seen."""
    entries: Entries = ()
    for entries in _proposals(variants, device):
        modes = judge(entries)
        if all(one.agrees_with(modes[one.test.id]) for one in variants):
            return entries, True
    return entries, False


def _proposals(variants: Sequence[SeenTest], device: str) -> Iterator[Entries]:
    if all(one.seen in {Seen.WORKS, Seen.SILENT} for one in variants):
        yield ()
        yield (_entry(variants, Mode.MANDATORY_SUCCESS, ()),)
        return
    speaking = [one for one in variants if one.seen is not Seen.SILENT]
    if len({one.seen for one in speaking}) > 1:
        yield from _by_dtype(speaking)
        yield from _by_operator(speaking, device)
    worst = next(seen for _, seen in _WORST_FIRST if any(one.seen is seen for one in speaking))
    yield (_entry(speaking, _MODE[worst], [one for one in speaking if one.seen is worst]),)


def _by_dtype(variants: Sequence[SeenTest]) -> Iterator[Entries]:
    """An own entry for the dtypes that fail; those that crash are taken out of the entry for the rest."""
    failing = [one for one in variants if one.seen is Seen.FAILS]
    dying = [one for one in variants if one.seen is Seen.DIES]
    fails, dies = _dtypes(failing), _dtypes(dying)
    rest = _entry(variants, Mode.MANDATORY_SUCCESS, dying)
    if None in fails and dies:
        yield (replace(_entry(variants, Mode.XFAIL, [*failing, *dying]), excluded_dtypes=_words(dies)),)
    elif failing and fails != {None}:
        yield (
            replace(_entry(variants, Mode.XFAIL, failing), include=_words(fails)),
            replace(rest, excluded_dtypes=_words(dies)),
        )
        yield (
            replace(_entry(variants, Mode.MANDATORY_SUCCESS, []), include=_words(_dtypes_of(variants, Seen.WORKS))),
            replace(_entry(variants, Mode.XFAIL, failing), excluded_dtypes=_words(dies)),
        )
    elif dies:
        yield (replace(rest, excluded_dtypes=_words(dies)),)


def _by_operator(variants: Sequence[SeenTest], device: str) -> Iterator[Entries]:
    """Operators that crash are taken out; the manifest has no way to expect a failure of single operators here."""
    dying = [one for one in variants if one.seen is Seen.DIES]
    ops = {op_in_name(one.test.method, one.test.base, device) for one in dying}
    if not ops or None in ops:
        return
    excluded = tuple(sorted(op for op in ops if op))
    failing = [one for one in variants if one.seen is Seen.FAILS]
    if not failing:
        yield (replace(_entry(variants, Mode.MANDATORY_SUCCESS, dying), excluded_ops=excluded),)
        return
    fails = _words(_dtypes(failing))
    if fails:
        yield (
            replace(_entry(variants, Mode.XFAIL, failing), include=fails, excluded_ops=excluded),
            replace(_entry(variants, Mode.MANDATORY_SUCCESS, dying), excluded_ops=excluded),
        )
    yield (replace(_entry(variants, Mode.XFAIL, [*failing, *dying]), excluded_ops=excluded),)


def _entry(variants: Sequence[SeenTest], mode: Mode, because_of: Sequence[SeenTest]) -> NewEntry:
    """Named after the class in which something is wrong: where class names count, the others keep their default. With
    several such classes the bare name says it once, as classes are not compared where the manifest comes from.
    """
    troubled = [one for one in variants if one.seen in {Seen.FAILS, Seen.DIES}] or variants
    classes = {one.test.cls for one in troubled}
    base = variants[0].test.base
    name = f"{classes.pop()}::{base}" if len(classes) == 1 and "" not in classes else base
    return NewEntry((name,), mode, reason=_reason(because_of))


def _reason(variants: Sequence[SeenTest]) -> str:
    """The commonest first line, and that there are others. Alike for tests that fail alike, so that they share it."""
    details = Counter(one.detail for one in variants)
    if not details:
        return ""
    # The text decides between equally common ones, so that a reason is the same in every run.
    detail, _ = min(details.items(), key=lambda item: (-item[1], item[0]))
    others = f" (and {len(details) - 1} other)" if len(details) == 2 else f" (and {len(details) - 1} others)"
    return detail + (others if len(details) > 1 else "")


def _first_line(detail: str) -> str:
    """Untrusted text as one short line; addresses differ from run to run and would make every reason another."""
    line = next((line for line in detail.splitlines() if line.strip()), "")
    shown = "".join(char if char.isprintable() else " " for char in line)
    return " ".join(_ADDRESS.sub("0x…", shown).split())[:REASON_CHARACTERS].strip()


def _dtypes(variants: Iterable[SeenTest]) -> set[str | None]:
    return {one.dtype for one in variants}


def _dtypes_of(variants: Iterable[SeenTest], seen: Seen) -> set[str | None]:
    return _dtypes(one for one in variants if one.seen is seen)


def _words(dtypes: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted(dtype for dtype in dtypes if dtype))


def _named(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


def _filled(mapping: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in mapping.items() if value}
