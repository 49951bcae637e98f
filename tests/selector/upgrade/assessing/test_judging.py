"""A judgement covers every test that concerns the device, counts down from variants to causes, and says which generated
tests will appear."""

from __future__ import annotations

from selector.manifests import ManifestSet
from selector.types import Mode
from selector.upgrade.assessing.judging import Judgement, judge
from selector.upgrade.assessing.side import Side
from selector.upgrade.types import (
    ChangedTest,
    Duty,
    Governed,
    NewVariant,
    OpInfoDifference,
    TestChange,
    TestDifference,
)
from tests.selector.upgrade.sides import changed, loaded, named, side, things

TESTS = things(
    "@ops(op_db)\ndef test_over_ops(self, device, dtype, op): ...",
    "@ops(op_db, allowed_dtypes=(torch.float32,))\ndef test_in_float(self, device, dtype, op): ...",
    "@dtypes(torch.float16, torch.float64)\ndef test_by_dtype(self, device, dtype): ...",
    "@parametrize('size', [1, 2])\ndef test_by_size(self, device, size): ...",
    "def test_new(self, device): ...",
)
MANIFEST = loaded(
    """
    - names: [test_over_ops, test_in_float, test_by_dtype]
    - names: [test_by_size]
      mode: xfail
    """,
    more="global:\n  supported_dtypes:\n    - name: float16\n    - name: float32",
)
BASE = side(TESTS, {"add": "float16 float64"})
HEAD = side(TESTS, {"add": "float16 float32 float64", "linalg.solve": "float32"})
DIFFERENCE = TestDifference(
    (
        changed("test_by_dtype", TestChange.UNCHANGED),
        changed("test_by_size", TestChange.BODY),
        changed("test_in_float", TestChange.UNCHANGED),
        changed("test_new", TestChange.ADDED),
        changed("test_over_ops", TestChange.UNCHANGED),
        ChangedTest(named("test_x", file="test/test_other.py"), (TestChange.BODY,)),
    ),
    1,
    1,
)


def judged(manifests: ManifestSet | None = MANIFEST, base: Side = BASE, head: Side = HEAD) -> Judgement:
    return judge(DIFFERENCE, OpInfoDifference((), 1, 2), base, head, manifests=manifests, device="spyre")


def test_findings_stand_in_the_order_of_duties() -> None:
    found = [(finding.duty, finding.changed.test.name) for finding in judged().findings]
    assert found == [
        (Duty.MUST, "test_by_size"),
        (Duty.NEW, "test_new"),
        (Duty.NOTHING, "test_by_dtype"),
        (Duty.NOTHING, "test_in_float"),
        (Duty.NOTHING, "test_over_ops"),
    ]


def test_what_concerns_nobody_is_counted() -> None:
    assert judged().notes == ("1 test is in no manifest and asks for nothing: counted, and not listed",)


def test_an_entry_says_how_many_variants_it_governs_before_and_after() -> None:
    governed = {finding.changed.test.name: finding.governed for finding in judged().findings}
    assert governed["test_over_ops"] == (Governed("m.yaml:6", Mode.MANDATORY_SUCCESS, 1, 3, "test_over_ops"),)
    assert governed["test_by_dtype"] == (Governed("m.yaml:6", Mode.MANDATORY_SUCCESS, 1, 1, "test_by_dtype"),)


def test_the_variants_of_a_parametrized_test_are_not_told() -> None:
    (finding,) = (finding for finding in judged().findings if finding.duty is Duty.MUST)
    assert finding.governed == (Governed("m.yaml:7", Mode.XFAIL, None, None, "test_by_size"),)


def test_variants_that_appear_are_told_by_operator_and_entry() -> None:
    over_ops = Governed("m.yaml:6", Mode.MANDATORY_SUCCESS, 1, 3, "test_over_ops")
    in_float = Governed("m.yaml:6", Mode.MANDATORY_SUCCESS, 0, 2, "test_in_float")
    assert judged().variants == (
        NewVariant(named("test_in_float"), "add", ("float32",), in_float),
        NewVariant(named("test_in_float"), "linalg.solve", ("float32",), in_float),
        NewVariant(named("test_over_ops"), "add", ("float32",), over_ops),
        NewVariant(named("test_over_ops"), "linalg.solve", ("float32",), over_ops),
    )


def test_the_funnel_goes_from_variants_to_causes() -> None:
    found = [(step.name, step.left, step.unit) for step in judged().funnel]
    assert found == [
        ("collected", 10, "variants"),
        ("listed", 10, "variants"),
        ("running", 7, "variants"),
        ("changed", 3, "tests"),
        ("must assess", 1, "tests"),
        ("should assess", 0, "tests"),
        ("to assess", 1, "names"),
        ("causes", 1, "causes"),
    ]
    assert "an estimate" in judged().funnel[0].summary
    assert judged().funnel[6].summary == "of the 4 that the manifests list, 25.0%"


def test_tests_that_no_entry_names_are_no_share_of_the_names() -> None:
    """They may ask for something, as unlisted tests that are held to an outcome, and a share is of what is listed."""
    entries = "- names: [test_in_float]\n  mode: xfail"
    found = {step.name: step for step in judged(loaded(entries, unlisted="mandatory_success")).funnel}
    assert found["must assess"].left == 1
    assert found["to assess"].left == 0
    said = "of the 1 that the manifests list, 0.0%; and unlisted tests of 1 file, held to an outcome"
    assert found["to assess"].summary == said


def test_a_test_of_which_nothing_runs_asks_for_nothing_but_its_name() -> None:
    """Its dtypes are not the device's, or a decorator keeps it to another device, even where it is skipped."""
    tests = side(
        things(
            "@dtypes(torch.float64)\ndef test_by_dtype(self, device, dtype): ...",
            "@onlyCUDA\ndef test_skipped(self, device): ...",
            "def test_other(self, device): ...",
        )
    )
    manifests = loaded(
        "- names: [test_by_dtype]\n- names: [test_skipped, test_other]\n  mode: skip",
        more="global:\n  supported_dtypes:\n    - name: float16",
    )
    names = ("test_by_dtype", "test_skipped", "test_other")
    found: dict[TestChange, list[Duty]] = {}
    for change in (TestChange.BODY, TestChange.REMOVED):
        difference = TestDifference(tuple(changed(name, change) for name in names), 1, 1)
        same = OpInfoDifference((), 0, 0)
        judgement = judge(difference, same, tests, tests, manifests=manifests, device="spyre")
        found[change] = [{one.changed.test.name: one.duty for one in judgement.findings}[name] for name in names]
    assert found[TestChange.BODY] == [Duty.NOTHING, Duty.NOTHING, Duty.MUST]
    assert found[TestChange.REMOVED] == [Duty.MUST, Duty.MUST, Duty.MUST]


def test_without_manifests_nothing_is_said_about_variants_that_run() -> None:
    found = judged(None)
    assert [step.name for step in found.funnel] == ["collected", "changed", "must assess", "should assess", "causes"]
    assert found.variants == ()
    assert found.notes == ("no manifests were given: every test counts as required",)
    assert found.funnel[2].summary == "that are gone or other tests now"
