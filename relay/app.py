"""The composition root: the only place where the parts of the relay meet. Holds no logic of its own."""

from __future__ import annotations

from fastapi import FastAPI

from relay.context import RelayContext
from relay.settings import RelaySettings, with_secrets
from relay.store.engine import Store, open_engine, upgrade_database
from relay.wake import CeleryWaker


def create_app(settings: RelaySettings) -> FastAPI:
    """The web application of one relay process.

    Raises:
        SettingsError: the settings do not let the service start.
    """
    complete = with_secrets(settings)
    engine = open_engine(complete.database_url)
    if complete.upgrade_on_start:
        upgrade_database(engine)
    app = FastAPI(title="OOT relay", docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json")
    app.state.relay = RelayContext(complete, Store(engine), CeleryWaker(complete.broker_url))
    return app
