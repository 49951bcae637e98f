"""Rows PX: which pull request and commit a dispatch is about, as it is kept for the callbacks that answer it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from relay.crcr.pr_context import UpstreamContext, upstream_context
from relay.store.crcr_models import Dispatch
from tests.conformance.payloads import S1, ZERO, pull_request, push
from tests.conformance.world import World


def kept(world: World, event: str, payload: dict[str, Any]) -> set[tuple[int | None, str]]:
    """What the dispatches of a webhook are about."""
    assert world.webhook(event, payload).status_code == 200
    with world.session() as session:
        return {(row.pr_number, row.head_sha) for row in session.scalars(select(Dispatch))}


@pytest.mark.row("PX01")
def test_a_pull_request_is_about_its_number_and_head(world: World) -> None:
    assert kept(world, "pull_request", pull_request()) == {(7, S1)}


@pytest.mark.row("PX02")
def test_a_trunk_tag_is_about_the_pull_request_it_names(world: World) -> None:
    assert kept(world, "push", push("refs/tags/ciflow/trunk/12345")) == {(12345, S1)}


@pytest.mark.row("PX03")
def test_a_push_to_the_branch_is_about_no_pull_request(world: World) -> None:
    assert kept(world, "push", push()) == {(None, S1)}


@pytest.mark.row("PX04")
def test_a_deleted_tag_is_about_nothing(world: World) -> None:
    deleted = push("refs/tags/ciflow/trunk/12345", after=ZERO)
    assert upstream_context("push", deleted) == UpstreamContext(None, "")
    assert kept(world, "push", deleted) == set()
