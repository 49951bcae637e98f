"""A record for the tests of the results side: made once, emptied after each test, for there are many and they are
short."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import delete

from relay.store.crcr_models import BackendJob, CrcrResult, Dispatch
from relay.store.engine import Store, open_engine, upgrade_database
from tests.conftest import MakeDatabase


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def _lasting_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('record') / 'relay.db'}"
    else:
        make: MakeDatabase = request.getfixturevalue("make_postgres_database")
        url = make("ready")
    engine = open_engine(url)
    upgrade_database(engine)
    yield Store(engine)
    engine.dispose()


@pytest.fixture
def store(_lasting_store: Store) -> Iterator[Store]:
    """An empty record, once on SQLite and once on PostgreSQL."""
    yield _lasting_store
    with _lasting_store.writing() as session:
        for table in (CrcrResult, Dispatch, BackendJob):
            session.execute(delete(table))
