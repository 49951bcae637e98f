"""A change as its readers see it: its runs, and of its newest head what each test says about the change.

A run of single tests again stands beside the run that it repeats: the newest answer about a test counts, and one that
is fine after it broke on the same commit is flaky, not fine. Reads only, with a fixed number of queries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select
from sqlalchemy.orm import Session, aliased, defer, selectinload

from relay.change_views import ChangeGroup
from relay.contract import Expected
from relay.runs.listings import view_test
from relay.runs.verdicts import BREAKING
from relay.store.models import PlannedTest, Run, Trigger
from relay.views import RunState, TestView, Verdict

#: Runs of a change that are looked at, the newest.
RUNS = 50
#: A commit is known by this many characters of its name.
SHORTEST_SHA = 7
_SHA = 40
_BEGIN = re.compile("[0-9a-f]{1,40}")

_CALLED_OFF = (RunState.CANCELLED, RunState.FAILED)
_KNOWN = (Verdict.KNOWN_FAILURE, Verdict.UNSUPPORTED)
_FINE = (Verdict.OK, Verdict.FIXED, Verdict.XPASS)


#: Groups whose tests are shown one by one; of the fine ones a count is enough.
SHOWN = tuple(group for group in ChangeGroup if group is not ChangeGroup.FINE)


@dataclass(frozen=True, slots=True)
class Head:
    """A commit of the change with its runs, newest first."""

    sha: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """The runs of a change by commit, the newest commit first. `others` are repositories that have a pull request of
    the same number; `cut`: older runs than these are on record."""

    repo: str
    runs: tuple[Run, ...]
    heads: tuple[Head, ...]
    others: tuple[str, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Where the answer about a change stands: the run of its whole plan, and the runs that repeated some tests of it,
    oldest first."""

    run: Run
    repeats: tuple[Run, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.run.id, *(run.id for run in self.repeats))


def change_of_pull(session: Session, number: int, device: str, *, repo: str = "", usually: str = "") -> Change | None:
    """A pull request of `repo`; without one of `usually`, or of the repository that was heard of last. None when no run
    of it is on record."""
    # The index begins with the repository, so every one that is known is looked up in it.
    known = Run.repo.in_(select(Run.repo).distinct())
    numbered = (known, Run.pr_number == number, Run.device == device)
    newest = func.max(Run.id).desc()
    found = list(session.scalars(select(Run.repo).where(*numbered).group_by(Run.repo).order_by(newest)))
    named = [name for name in found if name.lower() == (repo or usually).lower()]
    chosen = named or ([] if repo else found[:1])
    if not chosen:
        return None
    others = tuple(name for name in found if name not in chosen)
    return _change(session, [Run.repo.in_(chosen), Run.pr_number == number, Run.device == device], others)


def change_of_commit(session: Session, sha: str, device: str) -> Change | None:
    """The change whose head is this commit, given by its name or the begin of it; None when no run of it is on
    record."""
    if not _BEGIN.fullmatch(sha):
        return None  # PostgreSQL may order by a language, which passes over signs: a range would find others
    # A range, not a pattern, so that the index is used; after the last digit comes `g`.
    named = Run.head_sha == sha if len(sha) == _SHA else and_(Run.head_sha >= sha, Run.head_sha < f"{sha}g")
    newest = session.scalar(select(Run.head_sha).where(named, Run.device == device).order_by(Run.id.desc()).limit(1))
    return _change(session, [Run.head_sha == newest, Run.device == device], ()) if newest else None


def _change(session: Session, wanted: Sequence[ColumnElement[bool]], others: tuple[str, ...]) -> Change:
    query = select(Run).where(*wanted).order_by(Run.id.desc()).limit(RUNS + 1).options(defer(Run.body, raiseload=True))
    runs = tuple(session.scalars(query))
    by_head: dict[str, list[Run]] = {}
    for run in runs[:RUNS]:
        by_head.setdefault(run.head_sha, []).append(run)
    heads = tuple(Head(sha, tuple(of_head)) for sha, of_head in by_head.items())
    return Change(runs[0].repo, runs[:RUNS], heads, others, len(runs) > RUNS)


def answer_of(head: Head) -> Answer:
    """The newest run of the whole plan that was not called off, else the newest; and what repeated tests of it."""
    asked = [run for run in head.runs if run.trigger is not Trigger.CONFIRM] or list(head.runs)
    whole = [run for run in asked if not run.only] or asked
    run = next((run for run in whole if run.state not in _CALLED_OFF), whole[0])
    repeats = (other for other in asked if other.only and other.id > run.id)
    return Answer(run, tuple(sorted(repeats, key=lambda other: other.id)))


def count_groups(session: Session, answer: Answer) -> Mapping[ChangeGroup, int]:
    """How many tests each group has."""
    # PostgreSQL takes an expression with parameters for another one when it is grouped by, so grouped is a column.
    told = select(_group(answer).label("group")).where(current(answer)).subquery()
    found = session.execute(select(told.c.group, func.count()).group_by(told.c.group))
    counts = {ChangeGroup(name): count for name, count in found}
    return {name: counts.get(name, 0) for name in ChangeGroup}


def glimpse_groups(session: Session, answer: Answer, *, limit: int) -> Mapping[ChangeGroup, tuple[TestView, ...]]:
    """The first tests of every group but the fine ones, in the order they were planned."""
    group = _group(answer).label("group")
    place = func.row_number().over(partition_by=group, order_by=PlannedTest.id).label("place")
    ranked = select(PlannedTest.id, group, place).where(current(answer)).subquery()
    first = select(ranked.c.id, ranked.c.group).where(ranked.c.place <= limit, ranked.c.group != ChangeGroup.FINE.value)
    groups = {test: ChangeGroup(name) for test, name in session.execute(first)}
    found: dict[ChangeGroup, list[TestView]] = {name: [] for name in SHOWN}
    for row in _rows(session, PlannedTest.id.in_(groups)):
        found[groups[row.id]].append(view_test(row))
    return {name: tuple(tests) for name, tests in found.items()}


def page_of_group(
    session: Session, answer: Answer, group: ChangeGroup, *, limit: int, after: int = 0
) -> tuple[tuple[TestView, ...], int | None]:
    """Tests of one group after that key, and the key of the next page, None on the last."""
    wanted = and_(current(answer), _group(answer) == group.value, PlannedTest.id > after)
    rows = _rows(session, wanted, limit=limit + 1)
    following = rows[limit - 1].id if len(rows) > limit else None
    return tuple(view_test(row) for row in rows[:limit]), following


def _rows(session: Session, wanted: ColumnElement[bool], *, limit: int | None = None) -> Sequence[PlannedTest]:
    query = select(PlannedTest).where(wanted).order_by(PlannedTest.id).limit(limit)
    return session.scalars(query.options(selectinload(PlannedTest.attempts))).all()


def current(answer: Answer) -> ColumnElement[bool]:
    """The tests that count: of each test the newest one, where a repeat counts once it is reported."""
    if not answer.repeats:
        return PlannedTest.run_id == answer.run.id
    counts = or_(PlannedTest.run_id == answer.run.id, PlannedTest.verdict.is_not(None))
    newest = select(func.max(PlannedTest.id)).where(PlannedTest.run_id.in_(answer.ids), counts)
    return PlannedTest.id.in_(newest.group_by(PlannedTest.test_id))


def _group(answer: Answer) -> ColumnElement[str]:
    verdict, expected = PlannedTest.verdict, PlannedTest.expected
    breaks = or_(
        and_(expected == Expected.MANDATORY_SUCCESS, verdict.in_(sorted(BREAKING))),
        and_(expected == Expected.XFAIL_STRICT, verdict == Verdict.XPASS),
    )
    return case(
        (verdict.is_(None), ChangeGroup.WAITING.value),
        (breaks, ChangeGroup.NEW.value),
        (or_(verdict == Verdict.FLAKY, and_(verdict.in_(_FINE), _broke_before(answer))), ChangeGroup.FLAKY.value),
        (verdict.in_([*_KNOWN, *sorted(BREAKING)]), ChangeGroup.KNOWN.value),
        (verdict.in_([Verdict.FIXED, Verdict.XPASS]), ChangeGroup.FIXED.value),
        (verdict == Verdict.INFRA, ChangeGroup.NO_ANSWER.value),
        else_=ChangeGroup.FINE.value,
    )


def _broke_before(answer: Answer) -> ColumnElement[bool]:
    """Whether an earlier run of the same commit saw the test break, or flake."""
    if not answer.repeats:
        return PlannedTest.id < 0
    earlier = aliased(PlannedTest)
    return exists().where(
        earlier.test_id == PlannedTest.test_id,
        earlier.run_id.in_(answer.ids),
        earlier.id < PlannedTest.id,
        earlier.verdict.in_([*sorted(BREAKING), Verdict.FLAKY]),
    )
