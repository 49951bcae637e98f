"""A cause is what several tests share, as precise as it can be; the rest is looked at file by file."""

from __future__ import annotations

from selector.upgrade.assessing.causes import Causes, Judged
from selector.upgrade.assessing.duties import Verdict
from selector.upgrade.assessing.side import Side
from selector.upgrade.types import ChangedTest, Duty, Evidence, Place, TestChange
from tests.selector.upgrade.sides import FILE, changed, named, side, things


def causes(ones: list[ChangedTest], base: Side | None = None, head: Side | None = None) -> list[str]:
    judged = [Judged(one, Verdict(Duty.MUST, "why", one.change)) for one in ones]
    return list(Causes(base or side({}), head or side({})).name(judged))


def by_helpers(name: str, *helpers: str) -> ChangedTest:
    evidence = tuple(Evidence(TestChange.HELPER, helper, "differs", head=Place("test/h.py", 3)) for helper in helpers)
    return ChangedTest(named(name), (TestChange.HELPER,), evidence)


def test_the_helper_that_explains_most_is_the_cause() -> None:
    ones = [by_helpers("a", "make", "fill"), by_helpers("b", "make"), by_helpers("c", "make"), by_helpers("d", "fill")]
    assert causes(ones) == ["test/h.py: make", "test/h.py: make", "test/h.py: make", f"changes of {FILE}"]


def test_a_class_that_moved_is_one_cause() -> None:
    ones = [
        ChangedTest(named(name, cls="TestNew"), (TestChange.MOVED,), former=named(name)) for name in ("a", "b", "c")
    ]
    assert set(causes(ones)) == {f"{FILE}::TestThings is {FILE}::TestNew now"}


def test_the_same_edit_in_many_tests_is_one_cause() -> None:
    names = ("test_a", "test_b", "test_c")
    before = things(*(f"def {name}(self, device):\n    x = self.{name}()\n    y = x.cuda()" for name in names))
    after = things(*(f"def {name}(self, device):\n    x = self.{name}()\n    y = x.to(device)" for name in names))
    ones = []
    for number, name in enumerate(names):
        place = Place(FILE, 2 + 3 * number, 4 + 3 * number)
        ones.append(changed(name, TestChange.BODY, evidence=Evidence(TestChange.BODY, name, "", place, place)))
    assert causes(ones, side(before), side(after)) == ["edited `` to `device`, `cuda` to `to`"] * 3


def test_the_same_decorators_are_one_cause() -> None:
    names = ("test_a", "test_b", "test_c")
    before = things(*(f"def {name}(self, device): ..." for name in names))
    after = things(*(f"@slowTest\n@unittest.skip('x')\ndef {name}(self, device): ..." for name in names))
    ones = [changed(name, TestChange.DECORATORS) for name in names]
    assert set(causes(ones, side(before), side(after))) == {"decorators +skip +slowTest"}


def test_what_shares_nothing_is_looked_at_by_file() -> None:
    code = Evidence(TestChange.CODE, "relu", "differs", head=Place("torch/nn/functional.py", 3))
    ones = [
        changed("a", TestChange.BODY),
        changed("b", TestChange.ADDED),
        changed("c", TestChange.CODE, evidence=code),
    ]
    assert causes(ones) == [f"changes of {FILE}", f"new in {FILE}", "torch/nn/functional.py changed"]
