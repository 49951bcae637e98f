"""The steps of the schema, taken with rows in every table: an upgrade of a service in use loses nothing, and the way
back loses only what an older version has no place for. By reflection, so that no table and no step can be forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.engine.interfaces import ReflectedIndex

from relay.contract import Observation
from relay.store.engine import Store, open_engine, upgrade_database
from relay.store.models import Base
from tests.relay.store import filling
from tests.relay.worker_story import arrive_and_plan, must_lease, names, post_results, result, results, verdicts

REVISIONS = filling.revisions()
#: What the step down from a version takes away or changes on purpose, beside the tables and columns that it drops:
#: by table, which rows are as they were.
CHANGED: dict[tuple[str, str], Callable[[filling.Row], bool]] = {
    ("0011", "outbox"): lambda row: row["kind"] not in ("command", "comment"),
    ("0011", "operator_actions"): lambda row: row["via"] != "comment",
}


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[sa.Engine]:
    """Without tables, once on SQLite and once on PostgreSQL."""
    made = open_engine(empty_database_url)
    yield made
    made.dispose()


def test_each_step_up_keeps_what_was_written_at_every_version_before(engine: sa.Engine) -> None:
    """Rows are added at each version, so every later step meets them, and the newest models can read all of them."""
    before: dict[str, list[filling.Row]] = {}
    for number, revision in enumerate(REVISIONS, start=1):
        filling.go(engine, revision)
        _assert_kept(before, filling.content(engine), f"the step up to {revision}")
        filling.fill(engine, str(number))
        before = filling.content(engine)
        assert all(before.values()), f"at {revision} a table without rows"
    found = dict(filling.read_with_models(engine))
    assert found == {table: len(rows) for table, rows in before.items()}
    assert found.keys() == Base.metadata.tables.keys()


def test_each_step_down_keeps_what_the_older_version_can_hold(engine: sa.Engine) -> None:
    """From a record with every word of every vocabulary to the first version and back. What the first version holds is
    there afterwards, and the newest models can read it."""
    filling.go(engine, REVISIONS[-1])
    filling.fill(engine, "1", every_word=True)
    newest = filling.content(engine)
    assert newest.keys() == Base.metadata.tables.keys()
    assert all(newest.values()), "a table without rows"
    before = newest
    for revision, older in zip(REVISIONS[:0:-1], REVISIONS[-2::-1], strict=True):
        filling.go(engine, older)
        after = filling.content(engine)
        _assert_kept(before, after, f"the step down from {revision}", revision)
        before = after
    filling.go(engine, "base")
    assert filling.content(engine) == {}


def test_the_first_version_holds_a_record_until_the_newest_takes_it_again(engine: sa.Engine) -> None:
    """All the way down and up."""
    filling.go(engine, REVISIONS[-1])
    filling.fill(engine, "1", every_word=True)
    filling.go(engine, REVISIONS[0])
    held = filling.content(engine)
    filling.go(engine, REVISIONS[-1])
    _assert_kept(held, filling.content(engine), "the way up")
    found = dict(filling.read_with_models(engine))
    assert {table: found[table] for table in held} == {table: len(rows) for table, rows in held.items()}
    _assert_equals_models(engine)


def _assert_kept(
    before: dict[str, list[filling.Row]], after: dict[str, list[filling.Row]], step: str, revision: str = ""
) -> None:
    """Every row is there with what both versions have a column for."""
    for table in before.keys() & after.keys():
        kept = CHANGED.get((revision, table), _unchanged)
        common = [name for name in before[table][0] if name in after[table][0]]
        was = [{name: row[name] for name in common} for row in before[table] if kept(row)]
        ids = [_key(row) for row in was]
        now = [{name: row[name] for name in common} for row in after[table] if _key(row) in ids]
        assert now == was, f"{table} after {step}"


def _unchanged(_row: filling.Row) -> bool:
    return True


def _key(row: filling.Row) -> Any:
    """What a row is known by."""
    return row["id"] if "id" in row else tuple(row.values())[:2]


def test_verdicts_survive_the_way_down_and_up_again(store: Store) -> None:
    """A run with results, taken back to the first schema and forward again, has the same verdicts."""
    run_id = arrive_and_plan(store, [names(2)])
    leased = must_lease(store)
    post_results(store, leased, results(leased, [result(name, Observation.PASSED) for name in names(2)]))
    before = verdicts(store, run_id)
    filling.go(store.engine, REVISIONS[0])
    with store.engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM attempts")) == 2
    upgrade_database(store.engine)
    assert verdicts(store, run_id) == before


def test_the_second_step_down_takes_away_exactly_what_it_brought(engine: sa.Engine) -> None:
    filling.go(engine, "0002")
    with_it = {table: {c["name"] for c in sa.inspect(engine).get_columns(table)} for table in ("runs", "tests")}
    filling.go(engine, "0001")
    found = sa.inspect(engine)
    assert "operator_uses" not in found.get_table_names()
    assert with_it["runs"] - {c["name"] for c in found.get_columns("runs")} == {"tested_on"}
    assert with_it["tests"] - {c["name"] for c in found.get_columns("tests")} == {"isolate", "timeout_s"}


def test_rows_written_before_the_second_step_count_as_neither_isolated_nor_reused(store: Store) -> None:
    """The new columns are filled for old rows."""
    arrive_and_plan(store, [names(1)])
    filling.go(store.engine, "0001")
    upgrade_database(store.engine)
    assert must_lease(store).tests[0].isolate is False


def test_the_steps_lead_to_what_the_models_describe(store: Store) -> None:
    """Columns, types, defaults, keys, constraints and indexes."""
    _assert_equals_models(store.engine)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE runs DROP COLUMN headline",
        "DROP INDEX ix_shards_queue",
        "CREATE INDEX ix_one_too_many ON runs (title)",
        "ALTER TABLE runs ADD COLUMN one_too_many INTEGER",
    ],
)
def test_a_difference_is_noticed(store: Store, change: str) -> None:
    """The comparison above can fail."""
    with store.engine.begin() as connection:
        connection.execute(sa.text(change))
    with pytest.raises(AssertionError):
        _assert_equals_models(store.engine)


def test_what_a_step_writes_into_rows_that_were_there_is_what_the_models_write(store: Store) -> None:
    """A replica of the version before, which does not know of a column, so writes the same as one of this version."""
    with store.engine.connect() as connection:
        for table in Base.metadata.tables.values():
            for column in sa.inspect(connection).get_columns(table.name):
                written = column["default"]
                if written is None or written.startswith("nextval("):
                    continue
                given = table.columns[column["name"]].default
                assert isinstance(given, sa.ColumnDefault), f"{table.name}.{column['name']} has no default of its own"
                value = connection.scalar(sa.select(sa.literal_column(written)))
                assert type(given.arg)(value) == given.arg, f"{table.name}.{column['name']}"


def _assert_equals_models(engine: sa.Engine) -> None:
    """Autogenerate has nothing to do; and the schema is the one that the models themselves would make."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    by_steps = _described(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE alembic_version"))
        Base.metadata.drop_all(connection)
        Base.metadata.create_all(connection)
    by_models = _described(engine)
    assert by_steps.keys() == by_models.keys()
    for table, described in by_models.items():
        assert by_steps[table] == described, table


def _described(engine: sa.Engine) -> dict[str, dict[str, Any]]:
    """What the database says of each table, in no order."""
    found = sa.inspect(engine)
    return {
        table: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"]) for column in found.get_columns(table)
            },
            "key": found.get_pk_constraint(table),
            "references": sorted(map(str, found.get_foreign_keys(table))),
            "unique": sorted(map(str, found.get_unique_constraints(table))),
            "checks": sorted(map(str, found.get_check_constraints(table))),
            "indexes": sorted(map(_index, found.get_indexes(table))),
        }
        for table in found.get_table_names()
        if table != "alembic_version"
    }


def _index(index: ReflectedIndex) -> str:
    """Its columns, whether it is unique, and for which rows it is."""
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return f"{index['name']} {index['column_names']} {index['unique']} {options}"
