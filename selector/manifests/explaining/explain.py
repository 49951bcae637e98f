"""Why the manifests say what they say about one test: both readings side by side, the surprises, and what was meant.

Finds the test, and puts together what `resolution.py` traces and `traps.py` notices. Prints nothing.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from selector.manifests.authoring.results import SourceNames, no_source_names
from selector.manifests.dtypes import dtype_in_name, op_in_name
from selector.manifests.explaining.trap_case import Case, Trap, TrapKind
from selector.manifests.explaining.traps import traps
from selector.manifests.findings import did_you_mean
from selector.manifests.load import ManifestSet
from selector.manifests.model_rules import ModelRules
from selector.manifests.models import is_model_file
from selector.manifests.profiles import Profile
from selector.manifests.resolution import Resolution, Trace, trace
from selector.manifests.universe import UniverseError, read_universe
from selector.types import CollectedTest

_SHOWN_NEAR = 5
#: Of longer texts only the start is compared when a near one is looked for: difflib takes quadratic time.
_COMPARED_CHARACTERS = 300

_MEANT: Mapping[TrapKind, str] = {
    TrapKind.FUNCTION_NOT_GOVERNED: "the file block was to hold for its functions as well",
    TrapKind.CLASS_IGNORED: "the name was for its own class only",
    TrapKind.DTYPE_FROM_NAME: "the dtype that the test is generated for was to count, not a word in its name",
    TrapKind.FLOAT8_INVISIBLE: "the ceiling was to hold for float8 dtypes too",
    TrapKind.DOTTED_OPERATOR: "the operator was to be taken by the name that upstream gives it",
    TrapKind.EXCLUDED_BY_PREFIX: "only the operator itself was to be excluded",
}


class UnknownTestError(ValueError):
    """No such test. `near` are test ids or files that may have been meant, best first."""

    def __init__(self, message: str, near: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.near = tuple(near)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything a maintainer needs to understand the expectation of one test.

    `meant` says what the author probably meant, empty when both readings agree. `guessed`: the test is known by its id
    only, so its base name, operator and dtype are read out of it.
    """

    test: CollectedTest
    compat: Trace
    strict: Trace
    traps: tuple[Trap, ...]
    meant: str
    guessed: bool


def explain(
    manifests: ManifestSet,
    test: CollectedTest,
    *,
    device: str,
    test_type: str = "",
    platform: str = "",
    tests: Iterable[CollectedTest] = (),
    guessed: bool = False,
) -> Explanation:
    """Explain a test. `device` and the rest are as in `resolve`; `tests` are all collected tests, where known."""
    siblings = tuple(dict.fromkeys((test, *(other for other in tests if other.base_test == test.base_test))))
    compat, strict = (
        trace(
            manifests, test, profile=profile, device=device, test_type=test_type, platform=platform, tests=siblings[1:]
        )
        for profile in (Profile.COMPAT, Profile.STRICT)
    )
    rules = manifests.rules(test.file)
    found = traps(Case(test, rules, compat, siblings, device, test_type)) if rules else (_no_file(test, manifests),)
    read_off = guessed and not is_model_file(test.file)
    return Explanation(test, compat, strict, found, _meant(compat, strict, found), read_off)


def find_test(test_id: str, universe: Sequence[CollectedTest]) -> CollectedTest:
    """The collected test of this id, or the only variant of this base test (`file::Class::method`).

    Raises UnknownTestError with near ids, or with the variants when there are several.
    """
    for test in universe:
        if test.id == test_id:
            return test
    variants = [test for test in universe if str(test.base_test) == test_id]
    if len(variants) == 1:
        return variants[0]
    if variants:
        message = f"{test_id} is a base test with {len(variants)} variants; explain one of them"
        raise UnknownTestError(message, [test.id for test in variants[:_SHOWN_NEAR]])
    raise UnknownTestError(f"no collected test has the id {test_id}", _near_tests(test_id, universe))


def guess_test(
    test_id: str, manifests: ManifestSet, device: str, source_names: SourceNames = no_source_names
) -> CollectedTest:
    """A test known by its id alone. Its base is the longest name in the source that it can be a variant of; where the
    source is not at hand, the longest listed one, else what stands before the device's word.

    A model's test is certain. Raises UnknownTestError for a text that is no id, or no id of a model that is listed.
    """
    if model := manifests.models.get(test_id.partition("::")[0]):
        return _of_model(test_id, model)
    try:
        (test,) = read_universe(json.dumps([test_id]), device)
    except UniverseError as error:
        raise UnknownTestError(f"{test_id} is no test id; write `file::Class::method` or `file::function`") from error
    rules = manifests.rules(test.file)
    if rules is None:
        return test
    base = _longest_head(test.method, source_names(test.file)) or _longest_head(test.base, rules.exact) or test.base
    rest = test.method.removeprefix(base)
    op = op_in_name(test.method, base, device)
    named = next((name for name in rules.device.ops or () if op and name.replace(".", "_") == op), None)
    return replace(test, base=base, op=named, dtype=dtype_in_name(rest))


def _of_model(test_id: str, model: ModelRules) -> CollectedTest:
    found = model.test(test_id)
    if found is None:
        raise UnknownTestError(f"the model has no test {test_id}", [test.id for test in model.check.collected()])
    return found


def _longest_head(name: str, known: Container[str]) -> str:
    """The longest known name that a generated one starts with, or that is all of it; empty without any."""
    words = name.partition("[")[0].split("_")
    heads = ("_".join(words[:length]) for length in range(len(words), 0, -1))
    return next((head for head in heads if head in known), "")


def _no_file(test: CollectedTest, manifests: ManifestSet) -> Trap:
    sentence = f"No manifest lists {test.file}{did_you_mean(test.file, manifests.files())}, so nothing of it is run."
    return Trap(TrapKind.FILE_NOT_LISTED, "", sentence)


def _near_tests(test_id: str, universe: Sequence[CollectedTest]) -> list[str]:
    """Near ids of the same file, or of the nearest file when there is no such file."""
    file = test_id.partition("::")[0]
    files = {test.id.partition("::")[0] for test in universe}
    if file not in files:
        return _near(file, sorted(files))
    return _near(test_id, [test.id for test in universe if test.id.startswith(f"{file}::")])


def _near(text: str, known: Sequence[str]) -> list[str]:
    return difflib.get_close_matches(text[:_COMPARED_CHARACTERS], known, n=_SHOWN_NEAR, cutoff=0.6)


def _meant(compat: Trace, strict: Trace, found: Sequence[Trap]) -> str:
    """What the author probably meant, when a run would show that it is not what the framework makes of it."""
    here, there = compat.resolution, strict.resolution
    if (here.mode, here.tags, here.tolerance) == (there.mode, there.tags, there.tolerance):
        return ""
    because = next((_MEANT[trap.kind] for trap in found if trap.kind in _MEANT), "")
    clause = f"Probably {because}" if because else f"The strict profile takes {_taken_for(strict)}"
    same_mode = here.mode is there.mode
    return f"{clause}: {_said(there, with_rest=same_mode)} then, instead of {_said(here, with_rest=same_mode)}."


def _taken_for(strict: Trace) -> str:
    known = [f"{kind} {word}" for kind, word in (("operator", strict.op), ("dtype", strict.dtype)) if word]
    return f"what the generator told ({', '.join(known) or 'neither an operator nor a dtype'})"


def _said(row: Resolution, *, with_rest: bool) -> str:
    """Mode and place, and where modes do not make the difference, the rest as well."""
    said = f"`{row.mode}` ({row.rule}{f', {row.provenance}' if row.provenance else ''})"
    if not with_rest:
        return said
    tags = f"the tags {', '.join(row.tags)}" if row.tags else "no tags"
    tolerance = "own tolerance" if row.tolerance is not None else "default tolerance"
    return f"{said} with {tags} and {tolerance}"
