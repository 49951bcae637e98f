"""The tables. Owns names, types, keys and indexes; must not hold behaviour: transitions live in `relay.runs`.

Text that comes from upstream, from a worker or from a model is stored through `CappedText` and is untrusted to readers.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, MetaData, String, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from relay.contract import MESSAGE_CAP, SHORT_CAP, Expected, Observation, ShardKind, Tree
from relay.queue_views import WorkClass
from relay.store.columns import CappedText, UtcDateTime, ZippedJson, word
from relay.views import Conclusion, RunState, Verdict

BODY_CAP = 64_000
TITLE_CAP = 1_000
GROUP_CAP = 600
ID_CAP = 1_000
#: `relay.runs.verdicts.BREAKING`, in the order in which it is asked for.
BREAKING = text("verdict IN ('crash', 'missing', 'regression', 'timeout')")


class DeliveryState(StrEnum):
    """A delivery's life: stored as `received`, then handled once."""

    RECEIVED = "received"
    PROCESSED = "processed"
    IGNORED = "ignored"
    FAILED = "failed"


class Trigger(StrEnum):
    """What asked for a run."""

    WEBHOOK = "webhook"
    RERUN = "rerun"
    MANUAL = "manual"
    AUDIT = "audit"
    CONFIRM = "confirm"


class ShardState(StrEnum):
    """A shard's life. `done` and `lost` are final."""

    DUE = "due"
    LEASED = "leased"
    DONE = "done"
    LOST = "lost"


class Base(DeclarativeBase):
    """Declarative base with a fixed naming of constraints, which migrations rely on."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime(),
        **{
            kind: word(kind)
            for kind in (
                *(DeliveryState, Trigger, ShardState, ShardKind),
                *(RunState, Conclusion, Verdict, Expected, Observation, Tree, WorkClass),
            )
        },
    }


class Delivery(Base):
    """One webhook delivery as it arrived. `delivery_id` is GitHub's identity of it, so a redelivery is the same row."""

    __tablename__ = "deliveries"
    __table_args__ = (
        Index(None, "state", "id"),
        # Of those that have a body, which are few after some time. What looks for old ones reads nothing else; SQLite
        # would read the rows as well for the last column, which is always null here.
        Index(
            *("ix_deliveries_bodies", "received_at", "id", "state", "body_removed_at"),
            sqlite_where=text("body_removed_at IS NULL"),
            postgresql_where=text("body_removed_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    delivery_id: Mapped[str] = mapped_column(String(200), unique=True)
    event: Mapped[str] = mapped_column(String(100))
    body_sha256: Mapped[str] = mapped_column(String(64))
    payload: Mapped[bytes] = mapped_column(LargeBinary)
    #: When it was removed for its age; `payload` is empty then.
    body_removed_at: Mapped[datetime | None]
    received_at: Mapped[datetime]
    state: Mapped[DeliveryState]
    note: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))


class Run(Base):
    """One answer that was asked for: an upstream change on a device, for the nth time. `identity` makes asking twice
    the same as asking once.

    `release` is the torch that the tests need (`2.14`), empty where the nearest will do.

    `work_class`, `group_key` and `asked` are what `relay.runs.scheduling` places it by. `served_s` are the seconds of
    its leases that have ended, `served_at` is when a worker last took one.
    """

    __tablename__ = "runs"
    __table_args__ = (
        *(Index(None, "repo", "pr_number"), Index(None, "state"), Index(None, "rerun_of"), Index(None, "head_sha")),
        Index(None, "device", "served_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(String(300), unique=True)
    repo: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(32))
    pr_number: Mapped[int | None]
    title: Mapped[str] = mapped_column(CappedText(TITLE_CAP), default="")
    body: Mapped[str] = mapped_column(CappedText(BODY_CAP), default="")
    base_ref: Mapped[str] = mapped_column(CappedText(300), default="")
    base_sha: Mapped[str] = mapped_column(String(40))
    head_sha: Mapped[str] = mapped_column(String(40))
    tested_base_sha: Mapped[str] = mapped_column(CappedText(40), default="")
    fetch_ref: Mapped[str] = mapped_column(CappedText(300), default="")
    device: Mapped[str] = mapped_column(String(100))
    trigger: Mapped[Trigger]
    attempt: Mapped[int] = mapped_column(default=1)
    rerun_of: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    only: Mapped[list[str]] = mapped_column(JSON, default=list)
    full: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    release: Mapped[str] = mapped_column(String(100), default="")
    work_class: Mapped[WorkClass] = mapped_column(default=WorkClass.PULL_REQUEST)
    group_key: Mapped[str] = mapped_column(CappedText(GROUP_CAP), default="")
    asked: Mapped[bool] = mapped_column(default=False)
    served_s: Mapped[float] = mapped_column(default=0.0)
    served_at: Mapped[datetime | None]
    state: Mapped[RunState]
    conclusion: Mapped[Conclusion | None]
    headline: Mapped[str] = mapped_column(CappedText(MESSAGE_CAP), default="")
    manifest_digest: Mapped[str] = mapped_column(String(100), default="")
    selection_state: Mapped[str | None] = mapped_column(CappedText(SHORT_CAP))
    not_tested: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    tested_on: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    shards: Mapped[list[Shard]] = relationship(back_populates="run", order_by="Shard.ordinal", lazy="raise")
    selection: Mapped[Selection | None] = relationship(back_populates="run", lazy="raise")


class Shard(Base):
    """A piece of a run that one worker does at a time. `attempt` counts the leases given so far, `returns` those that a
    worker gave back because it was stopped; the lease columns keep the last holder after the lease has ended, so that
    its repeats can be recognised. `sandbox` is the weakest that a lease had, `sandbox_of` the worker it was of; empty
    where that did not say. `expected_s` is how long its tests may take, 0 where nothing is known, `took_s` how
    long its leases took that have ended. Seconds."""

    __tablename__ = "shards"
    __table_args__ = (
        UniqueConstraint("run_id", "ordinal"),
        # What each lease asks about all that waits is answered by the index alone.
        Index("ix_shards_queue", "state", "run_id", "expected_s"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    ordinal: Mapped[int]
    kind: Mapped[ShardKind]
    state: Mapped[ShardState]
    attempt: Mapped[int] = mapped_column(default=0)
    returns: Mapped[int] = mapped_column(default=0)
    lease_id: Mapped[str | None] = mapped_column(String(64))
    lease_worker: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    sandbox: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    sandbox_of: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    leased_at: Mapped[datetime | None]
    lease_expires_at: Mapped[datetime | None]
    expected_s: Mapped[float] = mapped_column(default=0.0)
    took_s: Mapped[float] = mapped_column(default=0.0)
    progress: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    error: Mapped[str] = mapped_column(CappedText(MESSAGE_CAP), default="")

    run: Mapped[Run] = relationship(back_populates="shards", lazy="raise")


class PlannedTest(Base):
    """A collected test that the run promised an outcome for. `verdict` is set exactly once. `by_lot`: the selection had
    left it out; `missed`: it was by lot, and the change broke it."""

    __tablename__ = "tests"
    __table_args__ = (
        UniqueConstraint("run_id", "test_id"),
        *(Index(None, "shard_id"), Index(None, "run_id", "verdict"), Index(None, "test_id", "run_id")),
        # Few tests are drawn by lot, among very many that are not.
        Index(
            *("ix_tests_by_lot", "run_id", "missed"),
            sqlite_where=text("by_lot = 1"),
            postgresql_where=text("by_lot"),
        ),
        # Nor do many speak against a change, and where a test did so before is asked about thousands of runs.
        Index(*("ix_tests_breaking", "test_id", "run_id"), sqlite_where=BREAKING, postgresql_where=BREAKING),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    shard_id: Mapped[int] = mapped_column(ForeignKey("shards.id"))
    test_id: Mapped[str] = mapped_column(CappedText(ID_CAP))
    file: Mapped[str] = mapped_column(CappedText(ID_CAP))
    base: Mapped[str] = mapped_column(CappedText(ID_CAP))
    expected: Mapped[Expected]
    rule: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
    provenance: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
    tags: Mapped[list[str]] = mapped_column(JSON, default=list)
    isolate: Mapped[bool] = mapped_column(default=False)
    timeout_s: Mapped[float | None]
    op: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    dtype: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    by_lot: Mapped[bool] = mapped_column(default=False)
    missed: Mapped[bool] = mapped_column(default=False)
    verdict: Mapped[Verdict | None]
    observation: Mapped[Observation | None]
    duration_s: Mapped[float | None]
    detail: Mapped[str] = mapped_column(CappedText(MESSAGE_CAP), default="")

    attempts: Mapped[list[TestAttempt]] = relationship(
        order_by="(TestAttempt.tree.desc(), TestAttempt.number)", lazy="raise"
    )


class TestAttempt(Base):
    """One try at one planned test, on head or on base. `reused`: seen in an earlier run of the same base."""

    __test__ = False  # pytest would collect it by its name
    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("planned_test_id", "tree", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    planned_test_id: Mapped[int] = mapped_column(ForeignKey("tests.id"))
    tree: Mapped[Tree]
    number: Mapped[int]
    observation: Mapped[Observation]
    duration_s: Mapped[float]
    detail: Mapped[str] = mapped_column(CappedText(MESSAGE_CAP), default="")
    reused: Mapped[bool] = mapped_column(default=False)


class OperatorUse(Base):
    """A base test was seen to use an operator on a device, last in that run. One row per test, not per variant: which
    dtype asked for an operator changes with every release, which test does so hardly ever."""

    __tablename__ = "operator_uses"
    __table_args__ = (
        UniqueConstraint("device", "base", "operator"),
        *(Index(None, "device", "operator"), Index(None, "device", "last_run_id")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    device: Mapped[str] = mapped_column(String(100))
    operator: Mapped[str] = mapped_column(String(200))
    base: Mapped[str] = mapped_column(CappedText(ID_CAP))
    last_run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))


class MissedEdge(Base):
    """A selection for a change of `changed_path` left `base_test` out although the change broke it. What was missed is
    run with that file from then on, until an operator forgets it. `run_id` is the run whose selection missed it."""

    __tablename__ = "missed_edges"
    __table_args__ = (UniqueConstraint("device", "changed_path", "base_test"), Index(None, "run_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    device: Mapped[str] = mapped_column(String(100))
    changed_path: Mapped[str] = mapped_column(CappedText(ID_CAP))
    base_test: Mapped[str] = mapped_column(CappedText(ID_CAP))
    evidence: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    created_at: Mapped[datetime]


class Selection(Base):
    """What a select shard found, as JSON documents in the shapes of `relay.contract`: lists of `FunnelStep`,
    `ChangedFile`, `Decision`, `FilteredTest`, and notes. The key and the cost of the plan are `SelectionReport`'s."""

    __tablename__ = "selections"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    kept: Mapped[int]
    dropped: Mapped[int]
    funnel: Mapped[list[dict[str, Any]]] = mapped_column(ZippedJson)
    changed_files: Mapped[list[dict[str, Any]]] = mapped_column(ZippedJson)
    decisions: Mapped[list[dict[str, Any]]] = mapped_column(ZippedJson)
    filtered: Mapped[list[dict[str, Any]]] = mapped_column(ZippedJson)
    notes: Mapped[list[str]] = mapped_column(ZippedJson)
    plan_key: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    expected_seconds: Mapped[float] = mapped_column(default=0.0)
    seconds_saved: Mapped[float] = mapped_column(default=0.0)
    expected_misses: Mapped[float] = mapped_column(default=0.0)

    run: Mapped[Run] = relationship(back_populates="selection", lazy="raise")


class ResultBatch(Base):
    """A message of a lease that was taken in: its digest tells a repeat from a contradiction. Sequence 0 is the
    selection, results count from 1."""

    __tablename__ = "result_batches"
    __table_args__ = (UniqueConstraint("shard_id", "lease_id", "sequence"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    shard_id: Mapped[int] = mapped_column(ForeignKey("shards.id"))
    lease_id: Mapped[str] = mapped_column(String(64))
    sequence: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))


class RunEvent(Base):
    """One line of a run's history. The id grows over the whole service and is never used twice; events of one run are
    written under the run's row lock, so they become visible in the order of their ids."""

    __tablename__ = "run_events"
    __table_args__ = (Index(None, "run_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(64))
    text: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
