"""One change, two devices of one relay, two verdicts on one page. The second device is the emulator under a name of its
own: nothing but its description and what it says of itself differs from the first.
"""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from relay.change_views import ChangeGroup, ChangeView
from relay.views import Conclusion, Verdict
from tests.e2e.conftest import Deploy
from tests.e2e.upstream import BREAKING, make_upstream, write_manifests
from tests.waiting import until

pytestmark = pytest.mark.e2e

FILE = "test/test_two.py"
TESTS = """\
# Owner(s): ["module: tests"]
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestTwo(TestCase):
    def test_unravel_index(self, device):
        rows, columns = torch.unravel_index(torch.tensor([3], device=device), (2, 2))
        self.assertEqual((rows.item(), columns.item()), (1, 1))

    def test_refusal_of_unravel_index(self, device):
        with self.assertRaises(TypeError):
            torch.unravel_index(torch.zeros(1, device=device), (2, 2))


instantiate_device_type_tests(TestTwo, globals())
if __name__ == "__main__":
    run_tests()
"""


def write_backends(folder: Path, manifests: Path) -> Path:
    """`spyre` can what the CPU can; `quartz` lacks operators, and has another queue."""
    folder.mkdir()
    (folder / "spyre.yaml").write_text(f"device: spyre\npackage: workers.spyre\nmanifests: {manifests}\n")
    (folder / "quartz.yaml").write_text(
        f"device: quartz\npackage: workers.spyre\nprofile: spyre-2026-06\nmanifests: {manifests}\nqueue: stones\n"
    )
    return folder


def test_one_change_has_two_verdicts_on_one_page(deploy: Deploy, tmp_path: Path) -> None:
    """The change breaks `spyre`. `quartz` never could do that, which it says by a rule, and so has no news."""
    change = make_upstream(tmp_path / "upstream", {FILE: TESTS}, edit=BREAKING)
    backends = write_backends(tmp_path / "backends", write_manifests(tmp_path / "manifests", [FILE]))
    deployment = deploy(change, backends=str(backends))
    client = deployment.client
    assert deployment.deliver(deployment.webhook()).status_code == 200
    until(lambda: len(client.runs().runs) == 2, seconds=30)

    spyre, quartz = (client.runs(device=device).runs[0].id for device in ("spyre", "quartz"))
    red, green = deployment.finished(spyre), deployment.finished(quartz)
    assert (red.run.conclusion, green.run.conclusion) == (Conclusion.FAILURE, Conclusion.SUCCESS), green
    assert {test.id.rpartition("::")[2]: test.verdict for test in deployment.tests(spyre)} == {
        "test_unravel_index_spyre": Verdict.REGRESSION,
        "test_refusal_of_unravel_index_spyre": Verdict.OK,
    }
    assert {test.id.rpartition("::")[2]: test.verdict for test in deployment.tests(quartz)} == {
        "test_unravel_index_quartz": Verdict.UNSUPPORTED,
        "test_refusal_of_unravel_index_quartz": Verdict.OK,
    }
    refused = next(test for test in deployment.tests(quartz) if test.verdict is Verdict.UNSUPPORTED)
    assert "quartz: unsupported: " in refused.detail
    assert green.tested_on is not None
    assert green.tested_on.device_profile == "spyre-2026-06"

    url = deployment.service.url
    page = httpx.get(f"{url}/pulls/7", trust_env=False).text
    assert "spyre: 1 test of 2 broken; quartz: nothing breaks of 2 tests" in page
    assert "This change breaks 1 test of 2 on spyre" in page
    assert "Nothing breaks with this change on quartz" in page
    told = ChangeView.model_validate_json(httpx.get(f"{url}/api/v1/pulls/7", trust_env=False).text)
    assert {one.device: one.counts[ChangeGroup.NEW] for one in told.devices} == {"spyre": 1, "quartz": 0}
