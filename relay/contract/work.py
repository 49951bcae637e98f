"""Work on its way to a worker: leases, and the orders in them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from relay.contract.texts import Message, ShortText, TestIdText, TimeoutSeconds

MANIFEST_PROBLEM_CAP = 2_000
_WHOLE_SANDBOX = "bubblewrap"


class ShardKind(StrEnum):
    """A run's first shard selects and plans; the shards it yields run tests."""

    SELECT = "select"
    TEST = "test"


class Expected(StrEnum):
    """The manifest modes that lead to a run (`oot-manifests.md` 1.5); `skip` never reaches a worker."""

    MANDATORY_SUCCESS = "mandatory_success"
    XFAIL = "xfail"
    XFAIL_STRICT = "xfail_strict"


class Change(Message):
    """The upstream change under test. `title` and `body` are untrusted text; the clone URL is the relay's setting.

    `fetch_ref` is a ref that is known to contain `head_sha` (`refs/pull/7/head`), empty when the SHA itself is fetched.
    `base_sha` is the tip of the base branch; the tested base is the merge base of both.
    """

    repo: str
    clone_url: str
    fetch_ref: str = ""
    base_sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    head_sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    pr_number: int | None = None
    title: str = ""
    body: str = ""


class ManifestText(Message):
    """One manifest as the relay holds it: a name for provenance, and its YAML."""

    name: str
    text: str


class TriageBudget(Message):
    """What one consultation of the model may cost. `calls` are look-ups, in at most `rounds` turns; `tokens` of both
    directions, `answer_tokens` of one answer; `wall_s` in seconds; `money` in US dollars at `price_in` and `price_out`
    for a million tokens, where 0 means free."""

    calls: int = Field(default=8, ge=0, le=8)
    rounds: int = Field(default=3, ge=0, le=3)
    tokens: int = Field(default=200_000, ge=1)
    answer_tokens: int = Field(default=8_000, ge=1)
    wall_s: float = Field(default=120.0, gt=0)
    money: float = Field(default=0.05, ge=0)
    price_in: float = Field(default=0.0, ge=0)
    price_out: float = Field(default=0.0, ge=0)


class TriageSettings(Message):
    """How stage 3 may ask a model. Calls go through the relay, authorised by the worker token, so that no model key is
    on a worker: `POST /api/v1/worker/triage/chat/completions` for the provider `openai`, `.../triage/messages` for
    `anthropic`. A `recorded` model is played back from the worker's own transcript."""

    model: str
    timeout_s: float
    provider: Literal["openai", "anthropic", "recorded"] = "openai"
    budget: TriageBudget = TriageBudget()


class SelectOrder(Message):
    """Work of a select shard. `only` limits the plan to these test ids (a rerun of failed tests), or to all variants of
    these base tests. `release` is the torch that the tests need (`2.14`), empty where the nearest will do.
    `manifest_problem`
    says why the manifests are not those that maintainers see now; the run's notes repeat it. `full` says why every test
    is to run, empty when that was not asked for; it beats `budget_s` (seconds) and `holdout`, the share (0 to 1) of
    what is left out that runs nevertheless (`selector.cut.Cut`). `budget_note` says why the budget is smaller than
    usual; the run's notes repeat it. A shard is to hold `shard_size` tests at most, and about `shard_seconds` of
    them."""

    manifests: tuple[ManifestText, ...]
    manifest_problem: str = Field(default="", max_length=MANIFEST_PROBLEM_CAP)
    triage: TriageSettings | None = None
    only: tuple[TestIdText, ...] = ()
    release: ShortText = ""
    full: ShortText = ""
    budget_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    budget_note: ShortText = ""
    holdout: float = Field(default=0.0, ge=0, le=1)
    shard_size: int = Field(default=200, ge=1)
    shard_seconds: float = Field(default=300.0, gt=0, allow_inf_nan=False)


class TestOrder(Message):
    """One planned test a worker has to run. `file` is relative to the upstream tree. `isolate` asks for a process of
    its own, `timeout_s` (seconds) replaces the worker's own limit of a test."""

    __test__ = False
    id: TestIdText
    file: str
    expected: Expected
    isolate: bool = False
    timeout_s: TimeoutSeconds | None = None


class ModelOrder(Message):
    """A whole model that tests of a shard are about. `file` is what stands for a file in their ids (`models/granite`),
    `check` a `selector.manifests.models.ModelCheck` as JSON."""

    file: str
    check: dict[str, Any]


def is_weak_sandbox(told: str) -> bool:
    """Whether a worker says that its test processes are not confined as they should be: `bubblewrap` alone is whole;
    anything after a colon is what it lacks. Nothing said is nothing known."""
    words = told.split(maxsplit=1)
    return bool(words) and words[0] != _WHOLE_SANDBOX


class TestedOn(Message):
    """The environment that answers for a run: its name, the torch and Python in it, the profile of the device, and how
    test processes are confined (`bubblewrap`, or something less with the reason)."""

    __test__ = False
    name: ShortText
    torch_version: ShortText
    torch_git_sha: ShortText = ""
    python_version: ShortText = ""
    device_profile: ShortText = ""
    sandbox: ShortText = ""

    @property
    def unconfined(self) -> bool:
        """Whether it is known that test processes were not confined as they should be."""
        return is_weak_sandbox(self.sandbox)


class Lease(Message):
    """The right to work on one shard for `expires_in_s` seconds, renewed by heartbeats. `tested_on` is the environment
    that the run was planned on, for the shards that run its tests. `models` are those that its tests are about, as the
    manifests have them now; one that they have no more is missing. `traceparent` is what spans of the shard belong to
    (W3C Trace Context), empty while no spans are sent."""

    lease_id: str
    shard_id: int
    run_id: int
    kind: ShardKind
    attempt: int
    expires_in_s: float
    change: Change
    select: SelectOrder | None = None
    tests: tuple[TestOrder, ...] = ()
    models: tuple[ModelOrder, ...] = ()
    tested_on: TestedOn | None = None
    traceparent: str = Field(default="", max_length=55)


class LeaseRequest(Message):
    """A worker asks for the next due shard of its device. Answered 200 with a `Lease`, or 204 when nothing is due.
    `sandbox` is how its test processes are confined, in the words of `TestedOn`.

    `request` names the question: 128 random bits as hex, made anew for each question and the same over all tries of it.
    A try that comes again, for the answer was lost, is given the same lease as long as it lasts, which counts nothing
    and renews it as a heartbeat does. Keep it secret, for it stands for the lease. Empty (workers that make none) asks
    for another shard each time.
    """

    worker: ShortText
    device: ShortText
    sandbox: ShortText = ""
    request: str = Field(default="", pattern=r"^([0-9a-f]{32})?$")


class Heartbeat(Message):
    """Keeps a lease alive; `progress` is a short word for the page (`collecting test/test_x.py`)."""

    lease_id: str
    progress: ShortText = ""


class HeartbeatReply(Message):
    """`cancelled`: stop at the next test boundary, nothing more is wanted of this shard."""

    cancelled: bool
