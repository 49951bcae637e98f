"""The dashboard: one module for each page, whole without JavaScript, filled with a fixed number of queries."""

from __future__ import annotations

from fastapi import APIRouter

from relay.web.pages import (
    audit_log,
    backend,
    backend_metrics,
    backends,
    changes,
    deliveries,
    manifests,
    now,
    quality,
    run_actions,
    runs,
    tests,
    trunk,
    upgrades,
)
from relay.web.rendering import PageAssets

router = APIRouter(include_in_schema=False)
router.mount("/static", PageAssets())
for page in (
    audit_log,
    backend,
    backend_metrics,
    backends,
    changes,
    deliveries,
    now,
    quality,
    run_actions,
    runs,
    tests,
    trunk,
    manifests,
    upgrades,
):
    router.include_router(page.router)
