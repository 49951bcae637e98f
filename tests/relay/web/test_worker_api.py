"""The worker API over HTTP: tokens, leases, reports, and errors in one shape."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import (
    BrokenWith,
    Expected,
    Heartbeat,
    HeartbeatReply,
    Lease,
    LeaseRequest,
    LogKind,
    LogLine,
    LogPosted,
    LogTaken,
    Message,
    MissedWith,
    Observation,
    ObservedOperators,
    OperatorsAsked,
    OperatorUses,
    Past,
    PastAsked,
    ResultsPosted,
    SelectionPosted,
    ShardFinished,
    ShardKind,
    ShardOutcome,
    TestedOn,
)
from relay.manifests import ManifestStore
from relay.runs.creation import cancel_run, open_run
from relay.runs.listings import list_tests
from relay.runs.misses import record_miss
from relay.settings import RelaySettings
from relay.views import ApiError, Conclusion, RunState
from relay.web.body_cap import BODY_CAPS
from tests.conftest import OpenApp
from tests.relay.worker_story import BASE_SHA, HEAD_SHA, NOW, arrive, get_run, names, new_run, report, result
from tests.setups import wake_ups

MANIFEST = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_ops.py
      unlisted_test_mode: mandatory_success
"""


class Worker:
    """A worker that speaks HTTP."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self._client = client
        self._headers = headers

    def post(self, path: str, message: Message, expected_status: int = 200) -> str:
        response = self._client.post(f"/api/v1/worker{path}", content=message.model_dump_json(), headers=self._all())
        assert response.status_code == expected_status, response.text
        return response.text

    def refused(self, path: str, message: Message, status: int) -> ApiError:
        return ApiError.model_validate_json(self.post(path, message, status))

    def lease(self) -> Lease:
        return Lease.model_validate_json(self.post("/lease", LeaseRequest(worker="w1", device="spyre")))

    def _all(self) -> dict[str, str]:
        return {**self._headers, "Content-Type": "application/json"}


@pytest.fixture
def worker(client: TestClient, worker_auth: dict[str, str]) -> Worker:
    """A worker with the right token."""
    return Worker(client, worker_auth)


def test_a_run_from_lease_to_conclusion(context: RelayContext, worker: Worker) -> None:
    """Everything a worker does, over HTTP."""
    run_id = arrive(context.store)
    selecting = worker.lease()
    assert (selecting.kind, selecting.run_id, selecting.attempt) == (ShardKind.SELECT, run_id, 1)
    assert (selecting.change.base_sha, selecting.change.head_sha) == (BASE_SHA, HEAD_SHA)
    assert selecting.change.clone_url == context.settings.upstream_clone_url
    assert selecting.select is not None
    assert selecting.select.triage is None
    posted = SelectionPosted(lease_id=selecting.lease_id, report=report([names(2)]))
    worker.post(f"/shards/{selecting.shard_id}/selection", posted)

    testing = worker.lease()
    assert [(test.id, test.expected) for test in testing.tests] == [
        (name, Expected.MANDATORY_SUCCESS) for name in names(2)
    ]
    beat = Heartbeat(lease_id=testing.lease_id, progress="running")
    reply = HeartbeatReply.model_validate_json(worker.post(f"/shards/{testing.shard_id}/heartbeat", beat))
    assert not reply.cancelled
    done = tuple(result(test.id, Observation.PASSED) for test in testing.tests)
    batch = ResultsPosted(lease_id=testing.lease_id, sequence=1, results=done)
    worker.post(f"/shards/{testing.shard_id}/results", batch)
    goodbye = ShardFinished(lease_id=testing.lease_id, outcome=ShardOutcome.DONE)
    worker.post(f"/shards/{testing.shard_id}/finish", goodbye)
    run = get_run(context.store, run_id)
    assert (run.state, run.conclusion) == (RunState.FINISHED, Conclusion.SUCCESS)


def test_a_manifests_wishes_about_the_process_reach_the_worker(context: RelayContext, worker: Worker) -> None:
    """`isolate` and `timeout_s` go from the plan into the lease of the tests, and into what readers see."""
    run_id = arrive(context.store)
    selecting = worker.lease()
    alone, plain = names(2)
    found = report([[alone, plain]])
    wishes = found.planned[0].model_copy(update={"isolate": True, "timeout_s": 7.5})
    found = found.model_copy(update={"planned": (wishes, found.planned[1])})
    worker.post(f"/shards/{selecting.shard_id}/selection", SelectionPosted(lease_id=selecting.lease_id, report=found))
    told = {test.id: (test.isolate, test.timeout_s) for test in worker.lease().tests}
    assert told == {alone: (True, 7.5), plain: (False, None)}
    with context.store.reading() as session:
        views = list_tests(session, run_id, limit=2).tests
    assert {view.id: (view.isolate, view.timeout_s) for view in views} == told


def test_tests_of_a_model_come_with_the_model(context: RelayContext, worker: Worker) -> None:
    """As the manifests describe it: no worker has to be believed about what another one runs."""
    run_id = arrive(context.store)
    model = 'name: one, import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [float16]'
    text = f"test_suite_config: {{files: [], models: [{{{model}}}]}}"
    (context.settings.manifest_dir / "models.yaml").write_text(text, encoding="utf-8")
    selecting = worker.lease()
    found = report([names(1)])
    own = found.planned[0].model_copy(update={"file": "models/one"})
    found = found.model_copy(update={"planned": (own,)})
    worker.post(f"/shards/{selecting.shard_id}/selection", SelectionPosted(lease_id=selecting.lease_id, report=found))
    testing = worker.lease()
    assert (testing.run_id, selecting.models) == (run_id, ())
    assert [(order.file, order.check["import_path"]) for order in testing.models] == [("models/one", "a:b")]


def test_the_environment_a_run_was_planned_on_is_told_to_its_tests(context: RelayContext, worker: Worker) -> None:
    """All shards of a run have to answer from the same one."""
    arrive(context.store)
    selecting = worker.lease()
    assert selecting.tested_on is None
    planned_on = TestedOn(name="nightly", torch_version="2.13.1", torch_git_sha="b" * 40, device_profile="compat")
    found = report([names(1)]).model_copy(update={"tested_on": planned_on})
    worker.post(f"/shards/{selecting.shard_id}/selection", SelectionPosted(lease_id=selecting.lease_id, report=found))
    assert worker.lease().tested_on == planned_on


def test_a_worker_asks_who_used_an_operator(context: RelayContext, worker: Worker) -> None:
    """What results told comes back, by base test; nothing is known of operators nobody used."""
    arrive(context.store)
    selecting = worker.lease()
    found = report([names(1)])
    worker.post(f"/shards/{selecting.shard_id}/selection", SelectionPosted(lease_id=selecting.lease_id, report=found))
    testing = worker.lease()
    done = result(names(1)[0], Observation.PASSED).model_copy(update={"operators": ("aten::add.Tensor",)})
    worker.post(
        f"/shards/{testing.shard_id}/results", ResultsPosted(lease_id=testing.lease_id, sequence=1, results=(done,))
    )
    asked = OperatorsAsked(device="spyre", operators=("aten::add.out", "aten::mul"))
    told = ObservedOperators.model_validate_json(worker.post("/operators", asked)).operators
    assert told == (OperatorUses(operator="aten::add", tests=(found.planned[0].base,), total=1),)


def test_a_worker_asks_how_tests_ended_before(context: RelayContext, worker: Worker) -> None:
    """One answer tells what the last version of the pull request broke, what changes of a path broke, and misses."""
    run_id = arrive(context.store, now=context.now())
    selecting = worker.lease()
    found = report([names(1)])
    worker.post(f"/shards/{selecting.shard_id}/selection", SelectionPosted(lease_id=selecting.lease_id, report=found))
    testing = worker.lease()
    done = result(names(1)[0], Observation.FAILED, Observation.FAILED, base=Observation.PASSED)
    posted = ResultsPosted(lease_id=testing.lease_id, sequence=1, results=(done,))
    worker.post(f"/shards/{testing.shard_id}/results", posted)
    goodbye = ShardFinished(lease_id=testing.lease_id, outcome=ShardOutcome.DONE)
    worker.post(f"/shards/{testing.shard_id}/finish", goodbye)
    path, base, other = "torch/_refs.py", found.planned[0].base, "test/test_b.py::TestB::test_y"
    with context.store.writing() as session:
        record_miss(
            session,
            device="spyre",
            changed_paths=[path],
            base_test=other,
            evidence="seen by an audit",
            run_id=run_id,
            now=NOW,
        )
    change = testing.change
    asked = PastAsked(device="spyre", paths=(path,), repo=change.repo, pr_number=change.pr_number, head_sha="9" * 40)
    told = Past.model_validate_json(worker.post("/past", asked))
    assert [failure.test for failure in told.failed_last] == [base]
    assert told.failed_with == (BrokenWith(path=path, test=base, strength=1.0),)
    assert told.missed_with == (MissedWith(path=path, test=other, evidence="seen by an audit"),)
    hostile = PastAsked(device="spyre", paths=("torch/\0.py", "\N{SNOWMAN}'; --"))
    assert Past.model_validate_json(worker.post("/past", hostile)) == Past()


def test_nothing_due_is_204(worker: Worker) -> None:
    """And has no body."""
    assert worker.post("/lease", LeaseRequest(worker="w1", device="spyre"), 204) == ""


def test_a_question_that_comes_again_has_the_same_answer(context: RelayContext, worker: Worker) -> None:
    """Word for word, though other work is due: the first answer may have been lost. The next question has another."""
    for number in (1, 2):
        arrive(context.store, new_run(pr_number=number))
    question = LeaseRequest(worker="w1", device="spyre", request="5" * 32)
    first, again = (worker.post("/lease", question) for _ in range(2))
    assert first == again
    assert Lease.model_validate_json(again).attempt == 1
    another = worker.post("/lease", question.model_copy(update={"request": "6" * 32}))
    assert Lease.model_validate_json(another).run_id != Lease.model_validate_json(first).run_id


@pytest.mark.parametrize("request_id", ["5" * 31, "5" * 33, "A" * 32, "5" * 32 + "\n", "\n", "0x" + "5" * 30])
def test_a_question_is_named_by_128_bits_or_not_at_all(
    client: TestClient, worker_auth: dict[str, str], request_id: str
) -> None:
    """What is shorter could be guessed, and stands for a lease. The answer does not repeat it."""
    body = {"worker": "w", "device": "spyre", "request": request_id}
    response = client.post("/api/v1/worker/lease", json=body, headers=worker_auth)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert request_id == "\n" or request_id not in response.text


def test_each_device_gets_its_own_manifests_and_an_unserved_one_is_told(
    context: RelayContext, worker: Worker, tmp_path: Path
) -> None:
    folder = tmp_path / "stones"
    folder.mkdir()
    (folder / "stones.yaml").write_text(MANIFEST, encoding="utf-8")
    ask = LeaseRequest(worker="w1", device="quartz")
    refusal = worker.refused("/lease", ask, 404)
    assert "The device quartz is not served here." in refusal.message
    assert "Name one of spyre" in refusal.hint
    second = replace(context.backends[0], device="quartz", manifests=ManifestStore(folder))
    object.__setattr__(context, "backends", (*context.backends, second))
    with context.store.writing() as session:
        for device in ("spyre", "quartz"):
            open_run(session, new_run(device=device), NOW)
    spyre, quartz = worker.lease().select, Lease.model_validate_json(worker.post("/lease", ask)).select
    assert spyre is not None
    assert quartz is not None
    assert ([one.name for one in spyre.manifests], [one.name for one in quartz.manifests]) == ([], ["stones.yaml"])


def test_a_select_order_carries_the_manifests_and_their_digest_is_kept(context: RelayContext, worker: Worker) -> None:
    """The worker has no manifests of its own, and the run remembers which it was given."""
    (context.settings.manifest_dir / "ops.yaml").write_text(MANIFEST, encoding="utf-8")
    run_id = arrive(context.store)
    order = worker.lease().select
    assert order is not None
    assert [(text.name, text.text) for text in order.manifests] == [("ops.yaml", MANIFEST)]
    assert get_run(context.store, run_id).manifest_digest == context.manifests.current().digest != ""
    assert order.manifest_problem == ""


def test_a_bad_edit_leaves_the_last_good_manifests_in_use_and_the_order_says_so(
    context: RelayContext, worker: Worker
) -> None:
    """The service goes on, and nobody takes the old expectations for the new ones."""
    path = context.settings.manifest_dir / "ops.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    context.manifests.current()
    path.write_text("test_suite_config: {files: 7}\n", encoding="utf-8")
    arrive(context.store)
    order = worker.lease().select
    assert order is not None
    assert [text.text for text in order.manifests] == [MANIFEST]
    assert "ops.yaml:1" in order.manifest_problem
    assert "last good set" in order.manifest_problem


def test_a_select_order_names_the_model_and_never_its_key(
    settings: RelaySettings, open_app: OpenApp, worker_auth: dict[str, str]
) -> None:
    """Workers ask through the relay."""
    llm = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "judge-1", "llm_api_key": "k-very-secret"}
    app = open_app(RelaySettings.model_validate({**settings.model_dump(), **llm}))
    arrive(app.state.relay.store)
    text = Worker(TestClient(app), worker_auth).post("/lease", LeaseRequest(worker="w1", device="spyre"))
    assert '"judge-1"' in text
    assert "k-very-secret" not in text
    assert "127.0.0.1:9" not in text


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic d29ya2Vy", "Bearer w\u00f6rker"])
@pytest.mark.parametrize(
    "path", ["/lease", "/shards/1/heartbeat", "/shards/1/selection", "/shards/1/results", "/shards/1/finish"]
)
def test_without_the_workers_token_nothing_goes(client: TestClient, header: str, path: str) -> None:
    """401 in the shape of the API, with the scheme and the variable to set."""
    headers = {b"Authorization": header.encode()} if header else {}
    response = client.post(f"/api/v1/worker{path}", json={"worker": "w", "device": "spyre"}, headers=headers)
    if response.status_code == 422:
        pytest.fail("the body was judged before the token")
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    error = ApiError.model_validate_json(response.text)
    assert error.code == "unauthorized"
    assert "RELAY_WORKER_TOKEN" in error.hint


def test_the_operators_token_is_not_a_workers(client: TestClient, operator_auth: dict[str, str]) -> None:
    """Two doors, two keys."""
    response = client.post("/api/v1/worker/lease", json={"worker": "w", "device": "spyre"}, headers=operator_auth)
    assert response.status_code == 403


def test_a_lost_lease_is_409_with_its_code(context: RelayContext, worker: Worker) -> None:
    """The code is what workers decide by."""
    arrive(context.store)
    shard = worker.lease().shard_id
    stranger = "someone-else"
    for path, message in (
        ("heartbeat", Heartbeat(lease_id=stranger)),
        ("selection", SelectionPosted(lease_id=stranger, report=report([]))),
        ("finish", ShardFinished(lease_id=stranger, outcome=ShardOutcome.DONE)),
    ):
        assert worker.refused(f"/shards/{shard}/{path}", message, 409).code == "lease_lost"


def test_a_cancelled_run_is_told_with_the_heartbeat(context: RelayContext, worker: Worker) -> None:
    """Not as an error: the worker ends in peace."""
    run_id = arrive(context.store)
    held = worker.lease()
    with context.store.writing() as session:
        cancel_run(session, run_id, NOW, "enough")
    reply = worker.post(f"/shards/{held.shard_id}/heartbeat", Heartbeat(lease_id=held.lease_id))
    assert HeartbeatReply.model_validate_json(reply).cancelled


@pytest.mark.parametrize("shard", ["0", "999", "99999999999999999999"])
def test_an_unknown_shard_is_404(worker: Worker, shard: str) -> None:
    """Whatever its number."""
    assert worker.refused(f"/shards/{shard}/heartbeat", Heartbeat(lease_id="x"), 404).code == "not_found"


def test_results_of_unknown_tests_are_422(context: RelayContext, worker: Worker) -> None:
    """And say which."""
    arrive(context.store)
    held = worker.lease()
    worker.post(
        f"/shards/{held.shard_id}/selection", SelectionPosted(lease_id=held.lease_id, report=report([names(1)]))
    )
    held = worker.lease()
    stray = ResultsPosted(lease_id=held.lease_id, sequence=1, results=(result("stray", Observation.PASSED),))
    error = worker.refused(f"/shards/{held.shard_id}/results", stray, 422)
    assert error.code == "bad_message"
    assert "stray" in error.message


def test_a_misspelt_field_is_422_without_an_echo(client: TestClient, worker_auth: dict[str, str]) -> None:
    """The error names the field and does not repeat what was sent."""
    body = {"worker": "w", "device": "spyre", "devise": "hunter2"}
    response = client.post("/api/v1/worker/lease", json=body, headers=worker_auth)
    assert response.status_code == 422
    error = ApiError.model_validate_json(response.text)
    assert (error.code, "devise" in error.message, "hunter2" in response.text) == ("invalid_request", True, False)


@pytest.mark.parametrize("duration", ["NaN", "Infinity", "-1"])
def test_impossible_durations_are_refused(
    context: RelayContext, worker: Worker, client: TestClient, worker_auth: dict[str, str], duration: str
) -> None:
    """They would come out of the read API as no JSON at all."""
    arrive(context.store)
    shard = worker.lease().shard_id
    attempt = f'{{"tree":"head","number":1,"observation":"passed","duration_s":{duration}}}'
    body = f'{{"lease_id":"x","sequence":1,"results":[{{"id":"t","attempts":[{attempt}]}}]}}'
    headers = {**worker_auth, "Content-Type": "application/json"}
    response = client.post(f"/api/v1/worker/shards/{shard}/results", content=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_a_body_over_the_cap_is_413(client: TestClient, worker_auth: dict[str, str]) -> None:
    """In the shape of the API, whether the length is announced or not."""
    cap = BODY_CAPS["/api/v1/worker/"]
    headers = {**worker_auth, "Content-Type": "application/json"}
    announced = client.post("/api/v1/worker/lease", content=b" " * (cap + 1), headers=headers)
    streamed = client.post(
        "/api/v1/worker/lease", content=(b" " * 2**20 for _ in range(cap // 2**20 + 1)), headers=headers
    )
    for response in (announced, streamed):
        assert response.status_code == 413
        assert ApiError.model_validate_json(response.text).code == "too_large"


def test_a_selection_and_a_goodbye_wake_workers(context: RelayContext, worker: Worker) -> None:
    """One message for each due shard waits after the commit."""
    arrive(context.store)
    held = worker.lease()
    shards = [[name] for name in names(3)]
    worker.post(f"/shards/{held.shard_id}/selection", SelectionPosted(lease_id=held.lease_id, report=report(shards)))
    assert wake_ups(context.settings.broker_url, "spyre") == 3


@pytest.mark.embedded("the broker that is broken here is a folder; tests/relay/test_wake.py has a broken server")
def test_a_broken_broker_fails_no_request(context: RelayContext, worker: Worker) -> None:
    """The record is what counts; the sweep wakes later."""
    broker = Path(context.settings.broker_url.removeprefix("filesystem://"))
    broker.parent.mkdir(parents=True, exist_ok=True)
    broker.write_text("a file where the folder should be", encoding="utf-8")
    run_id = arrive(context.store)
    held = worker.lease()
    worker.post(
        f"/shards/{held.shard_id}/selection", SelectionPosted(lease_id=held.lease_id, report=report([names(1)]))
    )
    assert get_run(context.store, run_id).state is RunState.PLANNED


def test_unknown_paths_and_methods_answer_in_the_apis_shape(client: TestClient) -> None:
    """A typing error in a URL is one clear object."""
    missing = client.get("/api/v1/nothing")
    wrong = client.get("/api/v1/worker/lease")
    assert (missing.status_code, ApiError.model_validate_json(missing.text).code) == (404, "not_found")
    assert (wrong.status_code, ApiError.model_validate_json(wrong.text).code) == (405, "method_not_allowed")


def test_what_a_shard_prints_is_taken_in_once(context: RelayContext, worker: Worker) -> None:
    """The answer tells where the next chunk begins; a stranger's lease is refused."""
    arrive(context.store)
    leased = worker.lease()
    said = LogPosted(lease_id=leased.lease_id, first=0, lines=(LogLine(at=0.5, kind=LogKind.STEP, text="fetching"),))
    for _ in range(2):
        answer = worker.post(f"/shards/{leased.shard_id}/log", said)
        assert LogTaken.model_validate_json(answer) == LogTaken(lines=1)
    stranger = said.model_copy(update={"lease_id": "another"})
    assert worker.refused(f"/shards/{leased.shard_id}/log", stranger, 409).code == "lease_lost"
