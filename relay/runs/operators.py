"""Which operators the tests of a device were seen to use: recorded with results, asked for by the selection of tests.

Owns what a name has to look like, and the bounds of the record. The names are claims of processes that run untrusted
code: they can propose a test that exists, and do nothing else. Overloads are not told apart, because a change is not
made to one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from relay.contract import ObservedOperators, OperatorUses
from relay.store.models import OperatorUse, Run
from relay.store.upsert import insert_into

#: Rows kept for one device: all of upstream's tests (about 20,000 written ones) with some fifty operators each.
MAX_USES = 1_000_000
#: Uses in one answer. The rarest operators are answered first: one that everything uses tells nothing about a change.
MAX_ANSWER = 5_000

_NAME = re.compile(r"([A-Za-z_]\w*::[A-Za-z_]\w*)(\.\w+)?", re.ASCII)
_NAME_CAP = 200
# PostgreSQL's index entries end near 2,700 bytes.
_BASE_BYTES = 2_000
#: SQLite takes some thousand parameters in a statement, and a row has four.
_ROWS_AT_ONCE = 1_000


def operator_of(name: str) -> str | None:
    """`aten::add` for `aten::add.Tensor`; None for what is not the name of an operator."""
    found = _NAME.fullmatch(name)
    return found[1] if found is not None and len(found[1]) <= _NAME_CAP else None


def record_uses(session: Session, run: Run, seen: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Note for (base test, operator names) that they were seen in this run. What the run has noted before costs a query
    and no write: the variants of a test use much the same."""
    uses = {
        (base, operator)
        for base, names in seen
        if len(base.encode(errors="replace")) <= _BASE_BYTES
        for operator in map(operator_of, names)
        if operator is not None
    }
    if not uses:
        return
    noted = select(OperatorUse.base, OperatorUse.operator).where(
        OperatorUse.device == run.device,
        OperatorUse.base.in_({base for base, _ in uses}),
        OperatorUse.last_run_id >= run.id,
    )
    uses -= {(base, operator) for base, operator in session.execute(noted)}
    # In one order everywhere, so that two runs which note the same rows do not wait for each other in a circle.
    ordered = sorted(uses)
    for start in range(0, len(ordered), _ROWS_AT_ONCE):
        _upsert(session, run, ordered[start : start + _ROWS_AT_ONCE])


def _upsert(session: Session, run: Run, uses: Sequence[tuple[str, str]]) -> None:
    rows = [
        {"device": run.device, "base": base, "operator": operator, "last_run_id": run.id} for base, operator in uses
    ]
    statement = insert_into(session, OperatorUse).values(rows)
    newer = statement.excluded.last_run_id
    session.execute(
        statement.on_conflict_do_update(
            index_elements=["device", "base", "operator"],
            set_={"last_run_id": newer},
            where=OperatorUse.last_run_id < newer,
        )
    )


def forget_old_uses(session: Session, device: str, *, keep: int = MAX_USES) -> int:
    """Bring the record of a device under `keep` uses, those of the oldest runs first. How many are forgotten."""
    of_device = OperatorUse.device == device
    count = session.scalar(select(func.count()).select_from(OperatorUse).where(of_device)) or 0
    if count <= keep:
        return 0
    # A whole run's uses go together, and at least a tenth, so that not every run has to sort.
    place = count - keep + keep // 10
    by_age = select(OperatorUse.last_run_id).where(of_device).order_by(OperatorUse.last_run_id)
    newest = session.scalar(by_age.offset(min(place, count) - 1).limit(1))
    session.execute(
        delete(OperatorUse).where(of_device, OperatorUse.last_run_id <= newest),
        execution_options={"synchronize_session": False},
    )
    left = session.scalar(select(func.count()).select_from(OperatorUse).where(of_device)) or 0
    return count - left


def observed_uses(session: Session, device: str, names: Sequence[str], *, limit: int = MAX_ANSWER) -> ObservedOperators:
    """The base tests that were seen to use these operators, rarest operator first, up to `limit` uses."""
    wanted = sorted({operator for name in names if (operator := operator_of(name))})
    of_them = (OperatorUse.device == device, OperatorUse.operator.in_(wanted))
    count = func.count()
    query = select(OperatorUse.operator, count).where(*of_them).group_by(OperatorUse.operator)
    counts = session.execute(query.order_by(count, OperatorUse.operator)).all()
    rare, total = [], 0
    for operator, uses in counts:
        total += uses
        if total > limit:
            break
        rare.append(operator)
    tests = _bases(session, device, rare)
    return ObservedOperators(
        operators=tuple(
            OperatorUses(operator=operator, tests=tests.get(operator, ()), total=uses) for operator, uses in counts
        )
    )


def _bases(session: Session, device: str, operators: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    query = select(OperatorUse.operator, OperatorUse.base).where(
        OperatorUse.device == device, OperatorUse.operator.in_(operators)
    )
    found: dict[str, list[str]] = {}
    for operator, base in session.execute(query.order_by(OperatorUse.operator, OperatorUse.base)):
        found.setdefault(operator, []).append(base)
    return {operator: tuple(tests) for operator, tests in found.items()}
