"""The sentences of `relay select` and `relay why`. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from relay.cli.text import did_you_mean, how_long, tests

if TYPE_CHECKING:
    from selector.types import Stage


def bad_length(given: str) -> str:
    return f"'{given}' is no length of time; write 600, 90s, 10m or 1h30m"


def nothing_affected() -> str:
    return "no test is affected by this change"


def none_admitted(dropped: int) -> str:
    return f"{tests(dropped)} considered, and the manifests let none of them run here; --explain says why"


def nothing_left(dropped: int) -> str:
    return f"{tests(dropped)} considered, none selected; --explain says why"


def selected(kept: int, dropped: int) -> str:
    return f"{tests(kept)} selected, {dropped} considered and left out"


def more_tests(left: int) -> str:
    return f"... and {left} more; --format ids lists all"


def test_not_considered(name: str) -> str:
    return f"no considered test has '{name}' in its name; `relay why` says more"


def narrowing_nothing() -> str:
    return "a TEST narrows --explain, --stage and --format jsonl; add one of them, or ask `relay why TEST`"


def files_are_no_tests() -> str:
    return "stage 1 looks at files and not at tests; write them as table, json or jsonl"


def goes_on(it_does: bool, *, last: bool) -> str:
    if not it_does:
        return "left out"
    return "runs" if last else "goes on"


def said_nothing() -> str:
    return "nothing of this test"


def stage_said(stage: Stage, step: Mapping[str, object] | None) -> str:
    """`stage 3 triage: 686 of 41000 tests go on; offline ranker`."""
    name = f"stage {stage:d} {stage.name.lower()}"
    if step is None:
        return f"{name}: {no_manifests()}" if stage == 4 else f"{name} was not asked"
    return f"{name}: {step['left']} of {step['entered']} {step['unit']} go on; {step['summary']}"


def asked_for_full() -> str:
    return "asked for with --full"


def part_of_all(kept: int, expected_s: float, full_s: float) -> str:
    """`686 tests in 11 min 26 s; all that can run here take 5 h 0 min, so 96% are saved`."""
    saved = f", so {1 - expected_s / full_s:.0%} are saved" if expected_s < full_s else ""
    return f"{tests(kept)} in {how_long(expected_s)}; all that can run here take {how_long(full_s)}{saved}"


def durations(assumed: int, kept: int) -> str:
    """Where the seconds come from; empty when all are on record."""
    if not assumed:
        return ""
    if assumed == kept:
        return "assumed, none of these tests is on record"
    return f"assumed for {assumed} of {kept} tests, which are not on record"


def misses(expected: float, saved_s: float) -> str:
    if not saved_s:
        return "none: everything that can run here does"
    if expected < 0.005:
        return "less than 0.01 failing files of those that can run here are expected to be missed"
    return f"{expected:.2f} failing files of those that can run here are expected to be missed"


def unknown_cost() -> str:
    return "nothing runs; the diff alone shows that no test is affected"


def decided(decision: str, rule: str, stage: str) -> str:
    """`left out by "offline ranker" (stage 3, triage)`."""
    return f'{decision} by "{rule}" ({stage})'


def not_considered(tied: int, size: int) -> str:
    others = f"{tied} of the {size} tests of its file are" if tied else "nor to any other test of its file"
    return f"not considered: no rule of stage 2 ties the change to it, {others}"


def nothing_considered(note: str) -> str:
    return f"not considered: {note}"


def would_be_considered(names: Sequence[str], modules: Sequence[str]) -> Iterator[str]:
    """What would tie a test to a change, with what this change has to offer."""
    yield "a change of the test, of its helpers or of its expected output ties it, and so do"
    if names:
        yield f"a mention of something that changed: {', '.join(names)}"
    if modules:
        yield f"an import of a changed module, or a file called after it: {', '.join(modules)}"
    yield "its name in the description of the change"


def unknown_test(name: str, guesses: Sequence[str]) -> str:
    return f"no test has '{name}' in its name.{did_you_mean(guesses[0]) if guesses else ''}"


def unknown_test_hint(guesses: Sequence[str]) -> str:
    if len(guesses) > 1:
        return f"names like it: {', '.join(guesses)}"
    return "write a part of the name, or the whole: file::Class::method"


def not_in_run(name: str, run_id: int) -> str:
    return f"run {run_id} considered no test with '{name}' in its name"


def not_in_run_hint(base_sha: str, head_sha: str) -> str:
    revisions = f"--base {base_sha[:12]} --head {head_sha[:12]}"
    return f"in a checkout, `relay why TEST --repo PATH {revisions}` says what would have tied it to the change"


def not_selected_yet(run_id: int) -> str:
    return f"run {run_id} has selected nothing yet"


def not_selected_yet_hint(run_id: int) -> str:
    return f"`relay run watch {run_id}` waits for it"


def run_or_change() -> str:
    return (
        "--change names a run of the service; --base, --head and --diff name a local change: give one of the two, or "
        "only --history N"
    )


def several(count: int, shown: int) -> str:
    part = f"{shown} of {tests(count)}" if shown < count else tests(count)
    return f"{part} of that name; name one alone for its whole chain of reasons"


def not_asked(decision: str) -> str:
    return f"not asked: {decision}"


def no_manifests() -> str:
    return "no manifests were applied"


def seconds(value: float, assumed: bool) -> str:
    return f"{value:.1f} s{' (assumed, none is on record)' if assumed else ''}"


def planned_seconds(value: float) -> str:
    """Of a run, which does not tell which durations were on record."""
    return f"{value:.1f} s were planned for it"


def probability(value: float) -> str:
    return f"{value:.2%} for its file to break"


def filtered(count: int, rule: str, place: str) -> str:
    noun = "variant does" if count == 1 else "variants do"
    return f"{count} generated {noun} not run: {rule} ({place})"


def several_unconsidered(count: int, first: str) -> str:
    return f"{tests(count)} of that name were not considered, {first} for one; name one alone for what would tie it"
