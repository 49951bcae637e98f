"""Why a test runs for a local change, or does not: also for a test that no stage ever considered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from relay.cli import selection_text
from relay.cli.chain import Told, show_chain, show_several
from relay.cli.output import Output, one_line
from relay.cli.selection import LocalSelection
from relay.cli.selection_data import considered_in, decisions
from relay.cli.why_history import Before, before_of
from relay.failures import Failure
from selector.change import ChangeSet
from selector.explanation import find_tests, what_would_change
from selector.types import BaseTest, Candidate, Selection, Stage

_SHOWN = 20
_NAMES = 8


class UnknownTest(Failure):
    """The tree has no test of that name."""

    code = "unknown_test"


def why_in_change(
    out: Output, name: str, selected: LocalSelection, *, url: str | None = None, history: int | None = None
) -> None:
    """Show the chain of the test that `name` means; a line each when it can mean several. `history` asks the service
    at `url` for so many outcomes before. Raises `UnknownTest`."""
    considered = {candidate.test: (candidate, kept) for candidate, kept in considered_in(selected.outcome.selection)}
    every = dict.fromkeys([*considered, *(entry.test for entry in selected.catalog())])
    named = find_tests(name, every)
    if not named.tests:
        raise UnknownTest(
            selection_text.unknown_test(name, named.guesses), selection_text.unknown_test_hint(named.guesses)
        )
    before = _before(url, [str(test) for test in named.tests], name, history)
    if out.as_json:
        out.data({**_as_data(selected, named.tests, considered), **before.as_object()})
    elif len(named.tests) > 1:
        _show_several(out, named.tests, considered)
    elif named.tests[0] in considered:
        candidate, kept = considered[named.tests[0]]
        selection = selected.outcome.selection
        words = _stage_words(selection, selected.manifests is not None)
        time = selection_text.seconds(candidate.seconds, candidate.assumed)
        show_chain(out, Told(candidate, kept, selection.key, words, time))
    else:
        _show_unconsidered(out, named.tests[0], selected)
    before.show(out)


def _before(url: str | None, tests: Sequence[str], name: str, history: int | None) -> Before:
    """A selection by itself asks no service."""
    if history is None:
        return Before(())
    from relay.cli.connect import open_client

    with open_client(url) as client:
        return before_of(client, tests, name, history)


def _stage_words(selection: Selection, manifests: bool) -> dict[Stage, str]:
    """What the stages said of all tests together."""
    steps = {step.stage: f"{step.left} of {step.entered} {step.unit}: {step.summary}" for step in selection.funnel}
    words = {Stage.CHANGE: steps.get(Stage.CHANGE, "")}
    if not manifests:
        words[Stage.MANIFESTS] = selection_text.no_manifests()
    return words


def _show_several(out: Output, tests: Sequence[BaseTest], considered: dict[BaseTest, tuple[Candidate, bool]]) -> None:
    """Those that a stage considered first."""
    found = [considered[test] for test in tests if test in considered]
    if found:
        show_several(out, found[:_SHOWN], len(found))
    if unseen := [test for test in tests if test not in considered]:
        out.note(selection_text.several_unconsidered(len(unseen), one_line(str(unseen[0]), 200)))


def _show_unconsidered(out: Output, test: BaseTest, selected: LocalSelection) -> None:
    out.say(one_line(str(test), 1_000))
    out.say(_unconsidered(test, selected))
    if ways := _ties(selected.outcome.change):
        out.say()
        out.table(("", ""), [("to change it" if not number else "", one_line(way)) for number, way in enumerate(ways)])


def _unconsidered(test: BaseTest, selected: LocalSelection) -> str:
    selection = selected.outcome.selection
    if selected.outcome.catalog is None or not (selection.kept or selection.dropped):
        return selection_text.nothing_considered(one_line(selection.notes[0]))
    tied = sum(candidate.test.file == test.file for candidate, _ in considered_in(selection))
    file = selected.catalog().files.get(test.file)
    return selection_text.not_considered(tied, len(file.tests) if file else 0)


def _ties(change: ChangeSet) -> tuple[str, ...]:
    """What of this change could tie a test to it; nothing where no file of it matters."""
    if not change.relevant:
        return ()
    names = dict.fromkeys(reached.name for file in change.relevant for reached in file.reached)
    paths = (PurePosixPath(file.path) for file in change.relevant)
    modules = dict.fromkeys(
        ".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths if path.suffix == ".py"
    )
    return tuple(selection_text.would_be_considered(_some(names), _some(modules)))


def _some(names: dict[str, None]) -> list[str]:
    shown = list(names)[:_NAMES]
    return [*shown, f"and {len(names) - _NAMES} more"] if len(names) > _NAMES else shown


def _as_data(
    selected: LocalSelection, tests: Sequence[BaseTest], considered: dict[BaseTest, tuple[Candidate, bool]]
) -> dict[str, object]:
    """The records of the tests that were considered, and the names of those that were not."""
    wanted = {str(test): test for test in tests}
    found = [record for record in decisions(selected) if record["test"] in wanted]
    for record in found:
        record["would_change_it"] = what_would_change(*considered[wanted[str(record["test"])]])
    unseen = [
        {"test": str(test), "why": _unconsidered(test, selected), "would_change_it": _ties(selected.outcome.change)}
        for test in tests
        if test not in considered
    ]
    return {"plan_key": selected.outcome.selection.key, "considered": found, "not_considered": unseen}
