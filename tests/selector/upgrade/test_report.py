"""One call gives the whole report about two trees."""

from __future__ import annotations

from selector.types import Mode
from selector.upgrade.assessing.patching import propose_patch
from selector.upgrade.report import build_report
from selector.upgrade.types import Duty
from tests.selector.upgrade.sides import FILE, loaded, manifest, things
from tests.selector.upstream import MemoryTree

ENTRIES = "- names: [test_body, test_old]\n- names: [test_same]\n  mode: xfail"
LONG = "x = torch.ones(3, device=device)\n    self.assertEqual(x.sum().item(), 3)\n    self.assertTrue(x.all())"
BASE = MemoryTree(
    {
        FILE: things(
            "def test_body(self, device): self.assertEqual(1, 1)",
            "def test_same(self, device): self.fail()",
            f"def test_old(self, device):\n    {LONG}",
        )
    }
)
HEAD = MemoryTree(
    {
        FILE: things(
            "def test_body(self, device): self.assertEqual(2, 2)",
            "def test_same(self, device): self.fail()",
            f"def test_new_name(self, device):\n    {LONG}",
            "def test_added(self, device): quite.another(thing)",
        )
    }
)


def test_a_report_says_what_to_do_about_every_test() -> None:
    ticks = iter([1.0, 3.5])
    report = build_report(
        *(BASE, HEAD),
        base_name="1.0",
        head_name="2.0",
        device="spyre",
        manifests=loaded(ENTRIES),
        clock=lambda: next(ticks),
    )
    assert (report.base, report.head, report.device, report.seconds) == ("1.0", "2.0", "spyre", 2.5)
    assert [(one.duty, one.changed.test.name, one.suggested) for one in report.findings] == [
        (Duty.MUST, "test_body", None),
        (Duty.MUST, "test_new_name", None),
        (Duty.NEW, "test_added", Mode.SKIP),
        (Duty.NOTHING, "test_same", None),
    ]
    assert "names: [test_body, test_new_name]" in propose_patch(report, [manifest(ENTRIES)])
