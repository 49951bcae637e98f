"""Reads the reports that are on record, and their tests by duty, file and cause. A fixed number of queries each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, defer

from relay.errors import NotFoundError
from relay.store.upgrade_models import Upgrade, UpgradeTest
from relay.upgrade.views import (
    CauseView,
    DutyWord,
    OperatorsView,
    UpgradePage,
    UpgradeSummary,
    UpgradeTestPage,
    UpgradeTestView,
    UpgradeView,
)

#: Causes in an answer; the smaller ones are many and settle little.
CAUSES_SHOWN = 200


@dataclass(frozen=True, slots=True)
class TestFilter:
    """Which tests of a report are wanted; None leaves a part open. `q` is a part of a test's name or of its file's;
    `cause` a whole one."""

    __test__ = False
    duty: DutyWord | None = None
    q: str = ""
    cause: str | None = None


def unknown_upgrade(upgrade_id: int) -> NotFoundError:
    """There is no such report."""
    return NotFoundError(f"There is no upgrade report {upgrade_id}.", "/upgrades shows the reports there are.")


def list_upgrades(session: Session, url: str, *, limit: int, before: int | None) -> tuple[UpgradePage, int | None]:
    """Reports with smaller ids than `before`, the newest first, and where the next page begins. `url` is the relay's
    own address."""
    query = select(Upgrade).options(defer(Upgrade.document), defer(Upgrade.about))
    if before is not None:
        query = query.where(Upgrade.id < before)
    rows = session.scalars(query.order_by(Upgrade.id.desc()).limit(limit + 1)).all()
    more = rows[limit - 1].id if len(rows) > limit else None
    return UpgradePage(upgrades=tuple(upgrade_summary(row, url) for row in rows[:limit])), more


def existing_upgrade(session: Session, upgrade_id: int, *, with_text: bool = False) -> Upgrade:
    """The row of a report; its text is read only where it is asked for. Raises NotFoundError."""
    options = () if with_text else (defer(Upgrade.document),)
    found = session.get(Upgrade, upgrade_id, options=options)
    if found is None:
        raise unknown_upgrade(upgrade_id)
    return found


def upgrade_view(row: Upgrade, url: str) -> UpgradeView:
    """A report without its tests."""
    about = row.about
    operators = about["operators"]
    return UpgradeView.model_validate(
        {
            **about,
            "upgrade": upgrade_summary(row, url),
            "operators": OperatorsView.model_validate(operators),
        }
    )


def upgrade_summary(row: Upgrade, url: str) -> UpgradeSummary:
    """A report as a line of the list."""
    return UpgradeSummary.model_validate(
        {
            **{name: getattr(row, name) for name in UpgradeSummary.model_fields if name != "url"},
            "url": f"{url}/upgrades/{row.id}",
        }
    )


def list_tests(session: Session, upgrade_id: int, wanted: TestFilter, *, limit: int, offset: int) -> UpgradeTestPage:
    """Tests of a report in its order, how many match, and the causes of all that match but for the cause asked for."""
    here = _conditions(upgrade_id, wanted)
    matching = here if wanted.cause is None else (*here, UpgradeTest.cause == wanted.cause)
    counted = select(UpgradeTest.cause, func.count()).where(*here).group_by(UpgradeTest.cause)
    causes = session.execute(counted.order_by(func.count().desc(), UpgradeTest.cause)).all()
    rows = session.scalars(select(UpgradeTest).where(*matching).order_by(UpgradeTest.id).offset(offset).limit(limit))
    return UpgradeTestPage(
        tests=tuple(map(_test, rows)),
        total=sum(count for cause, count in causes if wanted.cause in (None, cause)),
        causes=tuple(CauseView(cause=cause, tests=count) for cause, count in causes[:CAUSES_SHOWN]),
    )


def _conditions(upgrade_id: int, wanted: TestFilter) -> tuple[ColumnElement[bool], ...]:
    found: list[ColumnElement[bool]] = [UpgradeTest.upgrade_id == upgrade_id]
    if wanted.duty is not None:
        found.append(UpgradeTest.duty == wanted.duty.value)
    if wanted.q:
        found.append(func.lower(UpgradeTest.test).contains(wanted.q.lower(), autoescape=True))
    return tuple(found)


def _test(row: UpgradeTest) -> UpgradeTestView:
    return UpgradeTestView.model_validate(
        {**row.body, "test": row.test, "file": row.file, "duty": row.duty, "cause": row.cause}
    )
