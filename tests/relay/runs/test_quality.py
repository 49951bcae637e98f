"""The figures about selections count what audits, the lot and the plans say, alike for one audit and for many."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from relay.audit_views import AuditOutcome
from relay.contract import Decision, ReasonMessage
from relay.quality_views import QualityView
from relay.runs.quality import quality
from relay.runs.verdicts import BREAKING
from relay.store import models
from relay.store.engine import Store
from relay.store.models import Run
from tests.relay.runs.test_audits import BASE, FIRST, SECOND, THIRD, advance, answer, audit, push, seen
from tests.relay.runs.test_queries import counted_queries
from tests.relay.stories import Story, dropped, kept, planned, reason, regressed, report_of
from tests.relay.worker_story import DEVICE, NOW, names

DRAWN = Decision(test=BASE, kept=True, reasons=(ReasonMessage(stage=4, rule="holdout", evidence="by lot"),))


def figures(store: Store, *, days: int = 90) -> QualityView:
    with store.reading() as session:
        return quality(session, DEVICE, NOW + timedelta(hours=1), days=days)


def settled(store: Store, audit_id: int) -> tuple[int, ...]:
    """What the view of the one audit says: caught, missed, unexplained."""
    outcomes = [test.outcome for test in seen(store, audit_id).tests]
    return tuple(outcomes.count(kind) for kind in (AuditOutcome.CAUGHT, AuditOutcome.MISSED, AuditOutcome.UNEXPLAINED))


def test_a_caught_test_and_one_missed_by_a_change_that_was_asked(store: Store) -> None:
    """The same numbers as the audit's own view, which looks at one test after the other."""
    push(store, FIRST, SECOND, planned=1, broken=1)
    audit_id = audit(store, total=3, broken=2)
    advance(store, audit_id)
    answer(store, broken=1)
    advance(store, audit_id)
    (found,) = figures(store).audits
    assert (found.id, found.broken, found.caught, found.missed, found.unexplained) == (audit_id, 2, 1, 1, 0)
    assert (found.recall, found.false_green_rate) == (0.5, 0.5)
    assert settled(store, audit_id) == (1, 1, 0)


def test_what_was_drawn_by_lot_and_broke_is_missed(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1, broken=1, decision=DRAWN)
    audit_id = audit(store, total=2, broken=1)
    advance(store, audit_id)
    (found,) = figures(store).audits
    assert (found.broken, found.caught, found.missed) == (1, 0, 1)
    assert settled(store, audit_id) == (0, 1, 0)


def test_what_no_change_alone_broke_is_neither_caught_nor_missed(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1)
    audit_id = audit(store, total=2, broken=2)
    advance(store, audit_id)
    while advance(store, audit_id) or settled(store, audit_id) != (0, 0, 2):
        answer(store, broken=0)
    (found,) = figures(store).audits
    assert (found.broken, found.unexplained, found.recall, found.false_green_rate) == (2, 2, None, 0.0)


def test_an_older_change_is_not_held_against_a_later_audit(store: Store) -> None:
    """What broke before the audit's base is another audit's matter."""
    push(store, FIRST, SECOND, planned=1, broken=1)
    first = audit(store, total=1, broken=1)
    advance(store, first)
    push(store, SECOND, THIRD, planned=1)
    second = audit(store, total=1, broken=1)
    while advance(store, second) or settled(store, second) != (0, 0, 1):
        answer(store, broken=0)
    assert [(one.id, one.caught, one.unexplained) for one in figures(store).audits] == [(first, 1, 0), (second, 0, 1)]


def test_an_audit_that_is_not_settled_or_too_old_does_not_count(store: Store) -> None:
    push(store, FIRST, SECOND, planned=1)
    audit_id = audit(store, total=1, broken=0)
    assert figures(store).audits == ()
    advance(store, audit_id)
    assert len(figures(store).audits) == 1
    with store.writing() as session:
        session.get_one(Run, audit_id).created_at = NOW - timedelta(days=8)
    assert figures(store, days=7).audits == ()


def test_days_add_up_what_was_left_out(store: Store) -> None:
    """Audits and full runs chose nothing, so they are not in it."""
    for saved in (100.0, 300.0):
        story = Story(store, now=NOW)
        story.open(pr=int(saved))
        test = planned(names(1)[0])
        plan = report_of([[test]], left_out=[dropped("test/test_c.py::TestC::test_z")])
        story.select(plan.model_copy(update={"expected_seconds": 50.0, "seconds_saved": saved}))
        story.run_all({})
    push(store, FIRST, SECOND, planned=1)
    audit(store, total=1, broken=0)
    (day,) = figures(store).selections
    assert (day.day, day.selections, day.seconds_saved) == (NOW.date().isoformat(), 3, 400.0)
    assert (day.kept, day.dropped, day.reduction) == (2, 3, 0.8)


def test_the_lot_is_counted_with_its_misses(store: Store) -> None:
    story = Story(store, now=NOW)
    story.open()
    tests = [planned(name, base=f"test/test_ops.py::TestOps::b{place}") for place, name in enumerate(names(3))]
    by_lot = [kept(test.base, reason(4, "holdout", "drawn by lot")) for test in tests[1:]]
    story.select(report_of([tests], decisions=[kept(tests[0].base), *by_lot]))
    story.run_all({tests[1].id: regressed(tests[1].id, "boom")})
    found = figures(store).lot
    assert (found.drawn, found.missed, found.miss_rate) == (2, 1, 0.5)


def test_nothing_on_record_has_no_rates(store: Store) -> None:
    found = figures(store)
    assert (found.audits, found.selections, found.lot.miss_rate) == ((), (), None)


def test_more_audits_take_no_more_queries(store: Store) -> None:
    heads = [f"{number:040}" for number in range(1, 8)]
    counts = []
    for before, after in pairwise(heads):
        push(store, before, after, planned=1, broken=1)
        advance(store, audit(store, total=2, broken=1))
        with counted_queries(store) as statements:
            assert figures(store).audits
        counts.append(len(statements))
    assert len(set(counts)) == 1
    assert counts[0] <= 7  # SQLite's BEGIN is one of them


def test_the_index_over_breaking_verdicts_holds_just_those() -> None:
    """The database uses it only for the very same list."""
    assert str(models.BREAKING) == f"verdict IN ({', '.join(repr(verdict.value) for verdict in sorted(BREAKING))})"
