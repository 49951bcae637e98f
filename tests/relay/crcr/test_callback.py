"""What a callback's body says, and which bodies are none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.crcr.callback import CONCLUSIONS, Callback, CallbackRefusedError, parse_callback

WORKFLOW: dict[str, Any] = {"status": "in_progress", "name": "CI", "run_id": "100", "job_name": "build"}
BODY: dict[str, Any] = {"event_type": "pull_request", "delivery_id": "d1", "payload": {}, "workflow": WORKFLOW}


def parse(*, strict: bool = False, **workflow: Any) -> Callback:
    """The fixture's body with another `workflow`; a value of `...` takes its key away."""
    told = {key: value for key, value in (WORKFLOW | workflow).items() if value is not ...}
    return parse_callback(BODY | {"workflow": told}, strict=strict)


def refusal(body: object, *, strict: bool = False) -> CallbackRefusedError:
    """How a body is refused."""
    with pytest.raises(CallbackRefusedError) as caught:
        parse_callback(body, strict=strict)
    return caught.value


def refused(*, strict: bool = False, **workflow: Any) -> CallbackRefusedError:
    """How the fixture's body with another `workflow` is refused."""
    with pytest.raises(CallbackRefusedError) as caught:
        parse(strict=strict, **workflow)
    return caught.value


def test_a_plain_callback_is_read() -> None:
    """Every field from its place; what is absent has its default."""
    read = parse_callback(BODY, strict=False)
    assert (read.delivery_id, read.event_type, read.workflow, read.job_name) == ("d1", "pull_request", "CI", "build")
    assert (read.run_id, read.run_attempt, read.status, read.conclusion) == ("100", 1, "in_progress", None)
    assert read.body == BODY
    assert read.nonce is None


@pytest.mark.parametrize("field", ["delivery_id", "workflow"])
@pytest.mark.parametrize("value", [..., None, ""])
def test_a_body_without_a_required_field_is_refused_by_its_name(field: str, value: object) -> None:
    """Absent, null and empty are the same."""
    body = BODY | {field: value}
    problem = refusal({key: value for key, value in body.items() if value is not ...})
    assert problem.status == 400
    assert f"'{field}'" in str(problem.detail)


@pytest.mark.parametrize("field", ["run_id", "name", "job_name"])
@pytest.mark.parametrize("value", [..., None, ""])
def test_a_workflow_without_a_required_field_is_refused_by_its_name(field: str, value: Any) -> None:
    """The same inside."""
    problem = refused(**{field: value})
    assert problem.status == 400
    assert f"'{field}'" in str(problem.detail)


def test_a_status_may_be_anything_but_absent() -> None:
    """Which statuses there are is judged later, after the dispatch was found."""
    assert "'status'" in str(refused(status=...).detail)
    assert parse(status="queued").status == "queued"
    assert parse(status=None).status == "null"


@pytest.mark.parametrize("body", [[], None, "text", 5, True])
def test_a_body_that_is_no_object_is_the_callers_mistake(body: object) -> None:
    """The original fails on it."""
    assert refusal(body).status == 400
    assert refusal(body, strict=True).status == 500


@pytest.mark.parametrize(
    ("value", "read"), [("100", "100"), (100, "100"), ("007", "7"), (" 7 ", "7"), ("+7", "7"), (0, "0"), ("00", "0")]
)
def test_a_number_of_a_run_is_written_one_way(value: object, read: str) -> None:
    """Or one run would be several jobs."""
    assert parse(run_id=value).run_id == read
    assert parse(run_id=value, strict=True).run_id == read


@pytest.mark.parametrize("value", ["0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "abc"])
def test_another_ci_names_its_runs_as_it_likes(value: str) -> None:
    """The original fails on it."""
    assert parse(run_id=value).run_id == value
    assert refused(run_id=value, strict=True).status == 500


@pytest.mark.parametrize("value", [1.5, True, [], {}])
def test_a_run_id_is_text_or_a_whole_number(value: object) -> None:
    """Nothing else names a run."""
    assert refused(run_id=value).status == 400
    assert refused(run_id=value, strict=True).status == 500


@pytest.mark.parametrize(("value", "read"), [(None, 1), (..., 1), ("3", 3), (3, 3), (0, 1), ("0", 1)])
def test_an_attempt_counts_from_one(value: object, read: int) -> None:
    """Absent and zero are the first."""
    assert parse(run_attempt=value).run_attempt == read


@pytest.mark.parametrize("value", ["abc", "", 1.5, True, [], "9" * 5_000])
def test_an_attempt_is_a_whole_number(value: object) -> None:
    """The original fails on it."""
    assert refused(run_attempt=value).status == 400
    assert refused(run_attempt=value, strict=True).status == 500


@pytest.mark.parametrize("value", [-1, 2**31, "9" * 50])
def test_an_attempt_fits_the_record(value: object) -> None:
    """A number that no column takes is refused before it comes there."""
    assert refused(run_attempt=value).status == 400


@pytest.mark.parametrize("conclusion", CONCLUSIONS)
def test_a_completed_job_has_one_of_githubs_conclusions(conclusion: str) -> None:
    """All of them are taken."""
    assert parse(status="completed", conclusion=conclusion).conclusion == conclusion


@pytest.mark.parametrize("conclusion", [None, ..., "", "banana", "Success", 1, ["success"], {}])
def test_another_conclusion_is_refused_with_the_known_ones(conclusion: object) -> None:
    """GitHub would refuse it later, when nobody listens."""
    problem = refused(status="completed", conclusion=conclusion)
    assert problem.status == 400
    assert all(known in str(problem.detail) for known in CONCLUSIONS)


def test_the_strict_mode_takes_any_conclusion() -> None:
    """As the original does."""
    assert parse(status="completed", conclusion="banana", strict=True).conclusion == "banana"
    assert parse(status="completed", conclusion=None, strict=True).conclusion is None
    assert parse(status="completed", conclusion="b" * 500, strict=True).conclusion == "b" * 32


def test_a_running_job_has_no_conclusion() -> None:
    """Whatever it says."""
    assert parse(conclusion="success").conclusion is None


def test_only_the_strict_mode_takes_a_job_without_a_name() -> None:
    """Then it has none, which is another thing than an empty one."""
    assert parse(job_name=..., strict=True).job_name is None


@pytest.mark.parametrize(
    ("field", "cap"), [("delivery_id", 200), ("event_type", 100), ("name", 300), ("job_name", 300), ("run_id", 100)]
)
def test_an_identity_is_never_cut(field: str, cap: int) -> None:
    """Two that differ behind the cut would be one; a NUL or half a character is in no database either."""
    own = {"delivery_id", "event_type"}

    def body(value: str) -> dict[str, Any]:
        return BODY | ({field: value} if field in own else {"workflow": WORKFLOW | {field: value}})

    parse_callback(body("a" * cap), strict=False)
    for value in ("a" * (cap + 1), "a\0b", "a\ud800", " \t"):
        assert refusal(body(value)).status == 400


@pytest.mark.parametrize("payload", [[], "text", 5])
def test_a_payload_is_an_object(payload: object) -> None:
    """Or it is not there."""
    assert refusal(BODY | {"payload": payload}).status == 400
    assert parse_callback(BODY | {"payload": None}, strict=False).claimed.pr_number is None


def test_what_is_echoed_of_the_change_is_read() -> None:
    """From a pull request, a push and a scheduled report alike."""
    pull = {"number": 7, "head": {"sha": "s1"}, "labels": [{"name": "ciflow/crcr/npu"}, {"name": "x"}]}
    read = parse_callback(
        BODY | {"payload": {"pull_request": pull, "repository": {"full_name": "p/p"}}}, strict=False
    ).claimed
    assert (read.pr_number, read.head_sha, read.upstream_repo) == (7, "s1", "p/p")
    assert read.labels == ("ciflow/crcr/npu", "x")
    assert parse_callback(BODY | {"payload": {"after": "s2"}}, strict=False).claimed.head_sha == "s2"
    assert parse_callback(BODY | {"payload": {"head_sha": "s3"}}, strict=False).claimed.head_sha == "s3"


@pytest.mark.parametrize(
    "payload",
    [
        {"pull_request": None, "repository": None},
        {"pull_request": [], "repository": 5, "after": {}},
        {"pull_request": {"number": True, "head": "s", "labels": "x"}},
        {"pull_request": {"number": "7", "head": {"sha": 5}, "labels": [None, "x", {"name": 5}]}},
    ],
)
def test_a_malformed_echo_costs_nobody_the_callback(payload: dict[str, object]) -> None:
    """It is only compared, so it may be anything."""
    assert parse_callback(BODY | {"payload": payload}, strict=False).claimed.pr_number is None


@pytest.mark.parametrize("url", ["javascript:alert(1)", 5, None, "https://x/" + "a" * 1_000, "ftp://x"])
def test_a_run_links_to_the_web_or_nowhere(url: object) -> None:
    """It is shown as a link."""
    assert parse(url=url).url == ""
    assert parse(url="https://ci.example/1").url == "https://ci.example/1"


def test_a_malformed_verdict_is_gone_and_the_rest_is_kept() -> None:
    """The callback is taken all the same."""
    assert parse(triage_verdict="a feeling").body == BODY


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "delivery_id",
                        "workflow",
                        "status",
                        "run_id",
                        "name",
                        "job_name",
                        "payload",
                        "pull_request",
                        "head",
                        "labels",
                        "crcr",
                        "conclusion",
                        "run_attempt",
                        "event_type",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_no_body_breaks_the_parser(body: object) -> None:
    """Whatever JSON comes, it is read or refused as the caller's mistake."""
    assert status_of(body) in (200, 400)


def status_of(body: object) -> int:
    """What the endpoint would answer to the form of a body."""
    try:
        parse_callback(body, strict=False)
    except CallbackRefusedError as problem:
        return problem.status
    return 200
