"""JUnit XML of a run: well-formed whatever it quotes, read alike by plain readers and by our own manifest tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from xml.etree.ElementTree import Element

import defusedxml.ElementTree
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from relay.context import RelayContext
from relay.contract import Expected, Observation, TestedOn, TestResult, Tree
from relay.runs.case_listing import Kind, planned_by_file
from relay.runs.creation import cancel_run
from relay.runs.verdicts import JudgedTest, conclude
from relay.store.engine import Store
from relay.views import ApiError, Conclusion, RunDetail, TestView, Verdict
from relay.web.junit import Outcome, junit_report, outcome
from selector.manifests.authoring.junit import read_junit
from selector.manifests.authoring.results import Naming, no_source_names
from tests.relay.stand_in import a_failure
from tests.relay.stories import Story, attempt, ended, flaked, known, passed, planned, regressed, report_of

FILE, OTHER = "test/test_ops.py", "test/nn/test_layers.py"
NAMES = [f"{FILE}::TestOpsSPYRE::test_op{number}_spyre" for number in range(9)]
STRICT = f"{OTHER}::TestLayersSPYRE::test_strict_spyre"
XFAIL = f"{OTHER}::TestLayersSPYRE::test_param_spyre[a::b-\u00e4 <&>\"']"

_F, _P, _C, _T = Observation.FAILED, Observation.PASSED, Observation.CRASHED, Observation.TIMED_OUT


def fixed(test: str) -> TestResult:
    base = [attempt(_F, tree=Tree.BASE, number=number).model_copy(update={"reused": True}) for number in (1, 2)]
    return TestResult(id=test, attempts=(attempt(_P), *base))


def twice(test: str, first: Observation, second: Observation) -> TestResult:
    tries = (attempt(first, detail="Killed by signal 11"), attempt(second, number=2, detail="Killed by signal 11"))
    return TestResult(id=test, attempts=(*tries, attempt(_P, tree=Tree.BASE)))


OUTCOMES = {
    NAMES[0]: passed(NAMES[0]),
    NAMES[1]: regressed(NAMES[1], "AssertionError: 1 != 2\n at line 3"),
    NAMES[2]: known(NAMES[2], "RuntimeError: x"),
    NAMES[3]: flaked(NAMES[3], "AssertionError: sometimes"),
    NAMES[4]: twice(NAMES[4], _C, _C),
    NAMES[5]: twice(NAMES[5], _T, _C),
    NAMES[6]: ended(NAMES[6], Observation.SKIPPED, "needs cuda"),
    NAMES[7]: fixed(NAMES[7]),
    NAMES[8]: ended(NAMES[8], Observation.MISSING),
    STRICT: passed(STRICT),
    XFAIL: ended(XFAIL, _F, "expected \x00\x1b[31m ]]> \r end"),
}


@pytest.fixture
def run_id(context: RelayContext) -> int:
    """A finished run with one test of each fate."""
    story = Story(context.store)
    number = story.open()
    tests = [planned(name) for name in NAMES]
    tests += [planned(STRICT, expected=Expected.XFAIL_STRICT), planned(XFAIL, expected=Expected.XFAIL)]
    tested = TestedOn(name="nightly", torch_version="2.13.0", sandbox="bubblewrap")
    tests[5] = tests[5].model_copy(update={"op": "linalg.det", "dtype": "float32"})
    story.select(report_of([tests[:4], tests[4:]], tested_on=tested))
    story.run_all(OUTCOMES)
    return number


@pytest.fixture
def document(client: TestClient, run_id: int) -> bytes:
    response = client.get(f"/api/v1/runs/{run_id}/junit.xml")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/xml")
    assert response.headers["x-content-type-options"] == "nosniff"
    return response.content


def root_of(document: bytes) -> Element:
    root = defusedxml.ElementTree.fromstring(document, forbid_dtd=True)
    assert isinstance(root, Element)
    return root


def case(root: Element, name: str) -> Element:
    method = name.split("::", 2)[2]
    (found,) = [one for one in root.iter("testcase") if one.get("name") == method]
    return found


def facts(element: Element) -> list[tuple[str | None, str | None]]:
    return [(one.get("name"), one.get("value")) for one in element.findall("properties/property")]


def test_every_planned_test_is_one_case_in_the_suite_of_its_file(document: bytes) -> None:
    suites = {suite.get("name"): suite for suite in root_of(document).findall("testsuite")}
    assert {name: len(suite.findall("testcase")) for name, suite in suites.items()} == {FILE: 9, OTHER: 2}
    first = suites[FILE].findall("testcase")[0]
    assert (first.get("classname"), first.get("name"), first.get("file")) == (
        "test.test_ops.TestOpsSPYRE", "test_op0_spyre", FILE,
    )  # fmt: skip  # one place
    assert case(root_of(document), XFAIL).get("classname") == "test.nn.test_layers.TestLayersSPYRE"


def test_counters_and_times_are_those_of_the_cases(document: bytes) -> None:
    root = root_of(document)
    for element in (root, *root.findall("testsuite")):
        cases = list(element.iter("testcase"))
        assert int(element.get("tests", "")) == len(cases)
        for counter, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(counter, "")) == sum(one.find(tag) is not None for one in cases)
        assert float(element.get("time", "")) == pytest.approx(
            sum(float(one.get("time", "")) for one in cases), abs=0.01
        )


def test_each_fate_has_its_element(document: bytes) -> None:
    root = root_of(document)
    seen = {name: [(child.tag, child.get("type")) for child in case(root, name)][1:] for name in OUTCOMES}
    assert seen == {
        NAMES[0]: [],
        NAMES[1]: [("failure", "relay.regression")],
        NAMES[2]: [("skipped", "relay.known_failure")],
        NAMES[3]: [],
        NAMES[4]: [("error", "relay.crash")],
        NAMES[5]: [("error", "relay.crash")],
        NAMES[6]: [("skipped", "pytest.skip")],
        NAMES[7]: [],
        NAMES[8]: [("error", "relay.missing")],
        STRICT: [("failure", "relay.xpass")],
        XFAIL: [("skipped", "pytest.xfail")],
    }
    failure = case(root, NAMES[1]).find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("AssertionError: 1 != 2", "AssertionError: 1 != 2\n at line 3")


def test_properties_say_what_junit_cannot(document: bytes) -> None:
    root = root_of(document)
    assert facts(case(root, NAMES[5])) == [
        ("tag", "smoke"),
        ("expectation", "mandatory_success"),
        ("observation", "crashed"),
        ("verdict", "crash"),
        ("reason", "listed at demo.yaml:12"),
        ("base", f"{FILE}::TestOps::test_op5_spyre"),
        ("op", "linalg.det"),
        ("dtype", "float32"),
        ("attempt", "2"),
        ("result.retried", "stall"),
        ("observation.base", "passed"),
        ("attempt.head.1", "timed_out 0.250"),
        ("attempt.head.2", "crashed 0.500"),
        ("attempt.base.1", "passed 0.250"),
    ]
    assert ("result.retried", "signal") in facts(case(root, NAMES[4]))
    assert ("attempt.base.2", "failed 0.500 reused") in facts(case(root, NAMES[7]))
    assert all(name != "result.retried" for name, _ in facts(case(root, NAMES[1])))
    about = dict(facts(root.findall("testsuite")[0]))
    assert (about["conclusion"], about["environment"], about["sandbox"]) == ("failure", "nightly", "bubblewrap")


def test_a_report_says_who_had_no_whole_sandbox(client: TestClient, context: RelayContext) -> None:
    story = Story(context.store, sandbox="none: off")
    run = story.open()
    story.select(report_of([[planned(NAMES[0])]]))
    story.run_all({NAMES[0]: OUTCOMES[NAMES[0]]})
    root = root_of(client.get(f"/api/v1/runs/{run}/junit.xml").content)
    assert ("weak_sandbox", "worker-1: none: off") in facts(root.findall("testsuite")[0])


def test_our_own_manifest_tools_read_it(document: bytes) -> None:
    """Ids come back whole, and what holds without the change is what a manifest is made from."""
    read = {found.id: found for found in read_junit("run.xml", document, Naming("spyre", no_source_names))}
    assert read.keys() == OUTCOMES.keys()
    seen = {name: found.observation.value for name, found in read.items()}
    assert seen == {
        **dict.fromkeys([NAMES[0], NAMES[1], NAMES[3], NAMES[4], NAMES[5], STRICT], "passed"),
        **dict.fromkeys([NAMES[2], NAMES[7], XFAIL], "failed"),
        NAMES[6]: "skipped",
        NAMES[8]: "missing",
    }


_KINDS = [Kind(expected, verdict, seen) for expected, verdict, seen in product(Expected, Verdict, (None, *Observation))]


@pytest.mark.parametrize("kind", _KINDS, ids=str)
def test_a_plain_reader_is_red_exactly_when_the_run_is_or_got_no_answer(kind: Kind) -> None:
    assert kind.verdict is not None
    conclusion, _ = conclude([JudgedTest(kind.expected, kind.verdict)], None)
    red = outcome(kind) in {Outcome.FAILURE, Outcome.ERROR}
    assert red is (conclusion is not Conclusion.SUCCESS)
    assert red is (conclusion is Conclusion.FAILURE or kind.verdict is Verdict.INFRA)


def test_what_has_no_verdict_is_not_green() -> None:
    assert outcome(Kind(Expected.XFAIL, None, None)) is Outcome.ERROR


@pytest.fixture(scope="module")
def detail() -> RunDetail:
    """Any run; what it holds does not matter."""
    from relay.views import RunState
    from tests.relay.stand_in import a_run

    return RunDetail(
        run=a_run(1, RunState.FINISHED, Conclusion.SUCCESS), selection_state="selected", funnel=(), changed_files=(),
        notes=(), not_tested=None, shards=(), kept=0, dropped=0, filtered=0,
    )  # fmt: skip  # nothing but defaults


def whole(detail: RunDetail, tests: Sequence[TestView]) -> bytes:
    return "".join(junit_report(detail, (), tests)).encode()


_ANY = st.text(st.characters(exclude_categories=()), max_size=40)


@given(name=_ANY, told=_ANY, tag=_ANY)
def test_any_text_makes_valid_xml(detail: RunDetail, name: str, told: str, tag: str) -> None:
    """Control characters, half characters, ends of sections: all of it, in names, details and tags."""
    view = a_failure().model_copy(update={"id": f"{FILE}::T::{name}", "file": FILE, "detail": told, "tags": (tag,)})
    text = "".join(junit_report(detail, (), [view]))
    root = root_of(text.encode())
    (found,) = root.iter("testcase")
    failure = found.find("failure")
    assert failure is not None
    kept = [one for one in told if one in "\t\n\r" or (one >= " " and not "\ud800" <= one <= "\udfff")]
    if not {"\ufffe", "\uffff"} & set(told):
        assert [one for one in failure.text or "" if one != "\ufffd"] == [one for one in kept if one != "\ufffd"]


def test_it_is_written_while_tests_are_read(detail: RunDetail) -> None:
    """A run of 20,000 tests is never held as a whole."""
    read = 0

    def tests() -> Iterator[TestView]:
        nonlocal read
        for _ in range(20_000):
            read += 1
            yield a_failure()

    pieces = junit_report(detail, (), tests())
    for _ in range(10):
        next(pieces)
    assert read < 20
    assert sum(piece.startswith("<testcase") for piece in pieces) > 19_900


def test_pages_hold_every_test_once_file_by_file(store: Store) -> None:
    """Although two files take turns in the plan, on both databases."""
    story = Story(store)
    run_id = story.open()
    names = [f"test/test_{'abAB'[number % 4]}.py::T::test_{number}" for number in range(50)]
    story.select(report_of([[planned(name) for name in names]]))
    story.run_all({})
    views = list(planned_by_file(store, run_id, page=7))
    assert sorted(view.id for view in views) == sorted(names)
    files = [view.file for view in views]
    assert len([file for file, before in zip(files, [None, *files], strict=False) if file != before]) == 4
    assert all(view.attempts for view in views)


def test_an_unfinished_run_has_no_report(client: TestClient, context: RelayContext) -> None:
    """It could look green and turn red."""
    story = Story(context.store)
    run_id = story.open()
    response = client.get(f"/api/v1/runs/{run_id}/junit.xml")
    assert (response.status_code, ApiError.model_validate_json(response.content).code) == (409, "run_unfinished")
    assert client.get("/api/v1/runs/99/junit.xml").status_code == 404


def test_a_run_that_was_called_off_is_not_green(client: TestClient, context: RelayContext) -> None:
    story = Story(context.store)
    run_id = story.open()
    story.select(report_of([[planned(NAMES[0])]]))
    with context.store.writing() as session:
        cancel_run(session, run_id, story.tick(), "enough")
    root = root_of(client.get(f"/api/v1/runs/{run_id}/junit.xml").content)
    assert (root.get("tests"), root.get("errors")) == ("1", "1")
