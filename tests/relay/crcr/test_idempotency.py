"""What makes two jobs one, and two reports one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relay.crcr.callback import Callback, parse_callback
from relay.crcr.idempotency import body_digest, job_identity, report_digest

NAMES = st.text(st.sampled_from("a:/|,\"' -0"), max_size=4).filter(str.strip)


def callback(delivery: str = "d1", event_type: str = "pull_request", **workflow: Any) -> Callback:
    """A callback of the fixture's job with some of its keys changed."""
    told = {"status": "in_progress", "name": "CI", "run_id": "100", "job_name": "build"} | workflow
    told = {key: value for key, value in told.items() if value is not None}
    return parse_callback({"event_type": event_type, "delivery_id": delivery, "workflow": told}, strict=True)


def test_every_part_of_a_jobs_identity_counts() -> None:
    """Delivery, repository, workflow, job, run and attempt: with another one it is another job."""
    others = [
        job_identity(callback("d2"), "a/l2"),
        job_identity(callback(), "a/l3"),
        job_identity(callback(name="CI2"), "a/l2"),
        job_identity(callback(job_name="test"), "a/l2"),
        job_identity(callback(run_id="101"), "a/l2"),
        job_identity(callback(run_attempt="2"), "a/l2"),
    ]
    assert len({job_identity(callback(), "a/l2"), *others}) == 7


def test_a_job_without_a_name_is_not_one_of_any_name() -> None:
    """Neither of the word that some write for it."""
    nameless = job_identity(callback(job_name=None), "a/l2")
    assert nameless not in {
        job_identity(callback(job_name=name), "a/l2") for name in ("None", "null", "0", "-", "build")
    }


def test_what_may_differ_within_a_job_does_not_count() -> None:
    """Status, check and clock are told by several reports of one job."""
    ended = callback(status="completed", conclusion="failure", check_run_id="9", started_at="x", event_type="push")
    assert job_identity(ended, "a/l2") == job_identity(callback(check_run_id="8"), "a/l2")


@given(st.tuples(NAMES, NAMES), st.tuples(NAMES, NAMES))
def test_no_separator_makes_two_jobs_one(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Names may hold any character."""
    same = job_identity(callback(name=one[0], job_name=one[1]), "r") == job_identity(
        callback(name=other[0], job_name=other[1]), "r"
    )
    assert same == (one == other)


def test_a_report_is_what_it_claims() -> None:
    """A later clock, another link or another check is the same report; another finding is another one."""

    def ended(**workflow: Any) -> str:
        return report_digest(callback(status="completed", **({"conclusion": "success"} | workflow)))

    assert ended() == ended(completed_at="later", url="https://x/", check_run_id="9", artifact_url="https://y/")
    assert len({ended(), ended(conclusion="failure"), ended(test_results={"passed": 1}), ended(test_results={})}) == 4
    assert ended() != ended(failed_tests_detail=[{"name": "t"}])
    assert report_digest(callback()) == report_digest(callback(started_at="later"))
    assert report_digest(callback()) != ended()


def test_the_order_of_keys_is_no_claim() -> None:
    """Two writers of JSON may differ in it."""
    one, other = {"passed": 1, "failed": 2}, {"failed": 2, "passed": 1}
    assert report_digest(callback(status="completed", test_results=one)) == report_digest(
        callback(status="completed", test_results=other)
    )


def test_any_text_has_a_digest() -> None:
    """Half characters too, which JSON may hold."""
    assert len(report_digest(callback(status="completed", test_results={"\ud800": 1}))) == 64
    assert body_digest(b"a") != body_digest(b"b")
