"""Why a test ran in a run of the service, or did not: its decision as the service recorded it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from relay.cli import selection_text
from relay.cli.chain import Told, show_chain, show_several
from relay.cli.connect import open_client
from relay.cli.one_run import naming_the_run
from relay.cli.output import Output, one_line
from relay.cli.why_history import before_of
from relay.failures import Failure
from selector.explanation import find_tests, what_would_change
from selector.types import BaseTest, Candidate, Reason, Stage

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.contract import Decision, FilteredTest
    from relay.views import DecisionPage, RunDetail

_PAGE = 500
_SHOWN = 20


class NotInRun(Failure):
    """The run has no decision about such a test."""

    code = "unknown_test"


def why_in_run(out: Output, name: str, run_id: int, url: str | None, history: int | None = None) -> None:
    """Show the decision about the test that `name` means; a line each when it can mean several. `history` asks for so
    many outcomes before. Raises `NotInRun`."""
    with open_client(url) as client, naming_the_run(client, run_id):
        detail = client.run(run_id)
        page = _page_about(client, run_id, name)
        decisions = [it for it in page.decisions if it.test == name] or page.decisions
        if not decisions:
            raise _nothing_found(name, detail)
        before = before_of(client, [it.test for it in decisions], name, history, detail.run.device)
    considered = [(as_candidate(decision), decision.kept) for decision in decisions]
    if out.as_json:
        told = [decision.model_dump(mode="json") for decision in decisions]
        ways = [{"would_change_it": what_would_change(*it)} for it in considered]
        chains = [one | way for one, way in zip(told, ways, strict=True)]
        out.data({"run": run_id, "considered": chains, **before.as_object()})
    elif len(considered) > 1:
        show_several(out, considered[:_SHOWN], max(page.total, len(considered)))
    else:
        _show_one(out, considered[0], page.filtered, detail)
    before.show(out)


def _page_about(client: ApiClient, run_id: int, name: str) -> DecisionPage:
    """The decisions about tests with that name in theirs; else about the base test of a variant that is called so."""
    page = client.decisions(run_id, q=name, limit=_PAGE)
    file, _, method = name.partition("::")
    if page.decisions or not method:
        return page
    of_file = client.decisions(run_id, q=file, limit=_PAGE)
    bases = {str(test) for test in find_tests(name, (as_candidate(it).test for it in of_file.decisions)).tests}
    if len(bases) != 1:
        return page
    return client.decisions(run_id, q=bases.pop(), limit=_PAGE)


def as_candidate(decision: Decision) -> Candidate:
    """The decision as the selector knows it."""
    parts = decision.test.split("::")
    test = BaseTest(parts[0], "::".join(parts[1:-1]), parts[-1] if len(parts) > 1 else "")
    reasons = tuple(Reason(Stage(it.stage), it.rule, it.evidence, it.score) for it in decision.reasons)
    scores = [it.score for it in decision.reasons if it.score is not None]
    score = scores[-1] if scores else 0.0
    return Candidate(test, reasons, decision.must_run, score, decision.probability, seconds=decision.seconds)


def _show_one(
    out: Output, considered: tuple[Candidate, bool], filtered: Sequence[FilteredTest], detail: RunDetail
) -> None:
    candidate, kept = considered
    first = next((step for step in detail.funnel if step.stage == Stage.CHANGE), None)
    files = f"{first.left} of {first.entered} {one_line(first.unit)}: {one_line(first.summary)}" if first else ""
    kept_out = Counter((it.rule, it.provenance) for it in filtered if it.base == str(candidate.test))
    more = [
        ("stage 4 manifests", selection_text.filtered(count, one_line(rule), one_line(place)))
        for (rule, place), count in kept_out.most_common()
    ]
    time = selection_text.planned_seconds(candidate.seconds) if candidate.seconds else ""
    more.append(("run", detail.run.url))
    show_chain(out, Told(candidate, kept, "", {Stage.CHANGE: files}, time, more=tuple(more)))


def _nothing_found(name: str, detail: RunDetail) -> NotInRun:
    run = detail.run
    if detail.selection_state is None:
        return NotInRun(selection_text.not_selected_yet(run.id), selection_text.not_selected_yet_hint(run.id))
    return NotInRun(selection_text.not_in_run(name, run.id), selection_text.not_in_run_hint(run.base_sha, run.head_sha))
