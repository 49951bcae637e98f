"""Which test somebody means: by its name, a part of it, or the name of a variant that the framework generated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from selector.types import BaseTest

_GUESSES = 3


@dataclass(frozen=True, slots=True)
class Named:
    """The tests that a name can mean, sorted, and where there are none, names that look like it."""

    tests: tuple[BaseTest, ...]
    guesses: tuple[str, ...] = ()


def find_tests(name: str, tests: Iterable[BaseTest]) -> Named:
    """The test called exactly so; else those with the name in theirs; else the one whose variant it is (`test_add` for
    `TestASPYRE::test_add_spyre_float32`, with the class at least, since many names begin like another)."""
    known = {str(test): test for test in tests}
    if name in known:
        return Named((known[name],))
    holding = sorted(test for text, test in known.items() if name in text)
    if holding:
        return Named(tuple(holding))
    base = _bases(name, list(known.values()))
    return Named(tuple(base)) if base else Named((), _alike(name, known))


def _bases(variant: str, tests: Sequence[BaseTest]) -> list[BaseTest]:
    """The tests with the longest name that the variant's begins with, of its file and class where it says them."""
    scope, _, method = variant.rpartition("::")
    if not scope:
        return []
    file, _, cls = scope.partition("::") if ".py" in scope else ("", "", scope)
    fitting = [
        test
        for test in tests
        if test.name
        and method.startswith(f"{test.name}_")
        and test.file.endswith(file)
        and (not cls or cls.startswith(test.cls))
    ]
    longest = max((len(test.name) for test in fitting), default=0)
    return sorted(test for test in fitting if len(test.name) == longest)


def _alike(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Names of methods that look like the last part of the name, and files that look like the first."""
    parts = name.split("::")
    methods = sorted({text.rpartition("::")[2] for text in known})
    files = sorted({text.partition("::")[0] for text in known})
    alike = get_close_matches(parts[-1], methods, n=_GUESSES, cutoff=0.75)
    return tuple(alike or get_close_matches(parts[0], files, n=_GUESSES, cutoff=0.75))
