"""An upstream change breaks a whole model while the test of its operator passes: the diff alone leads to the model, and
its verdict names the first layer that differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relay.views import Conclusion, Verdict
from tests.e2e.conftest import Deployment
from tests.e2e.upstream import change_wheel, write_manifests
from tests.workers.models.model_bench import SOURCE

pytestmark = pytest.mark.e2e

DECOMPOSITIONS = "torch/_decomp/decompositions.py"
WRONG = (
    "    unnormalized = torch.exp(x - x_max)\n    result =",
    "    unnormalized = torch.exp((x - x_max) * 0.9)\n    result =",
)
TEST_FILE = "test/test_softmax.py"
TEST = """\
# Owner(s): ["module: tests"]
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestSoftmax(TestCase):
    def test_softmax(self, device):
        numbers = torch.tensor([[1.0, 2.0, 4.0]])
        ours = torch.ops.aten._softmax(numbers.to(device), -1, False)
        self.assertEqual(ours.cpu(), torch.ops.aten._softmax(numbers, -1, False))


instantiate_device_type_tests(TestSoftmax, globals())
if __name__ == "__main__":
    run_tests()
"""
MODEL = """\
test_suite_config:
  files: []
  models:
    - name: tiny
      import_path: tiny_model:make
      inputs: [{shape: [2, 6], below: 32, seed: 1}]
      output: ""
      compiled_by: aot_eager_decomp_partition
      compare: [logits]
      dtypes: [float32]
      tags: [model]
      uses: {operators: ["aten::_softmax"]}
"""
CHECK = "models/tiny::logits[float32]"


@pytest.fixture
def deployment(deploy: Callable[..., Deployment], tmp_path: Path) -> Deployment:
    files = {TEST_FILE: TEST, "test/tiny_model.py": SOURCE}
    change = change_wheel(tmp_path / "upstream", files, DECOMPOSITIONS, title="Tidy softmax", edit=WRONG)
    manifests = write_manifests(tmp_path / "manifests", [TEST_FILE])
    (manifests / "models.yaml").write_text(MODEL)
    return deploy(change, manifest_dir=manifests)


def test_a_changed_decomposition_is_caught_by_the_model_that_the_diff_leads_to(deployment: Deployment) -> None:
    run_id = deployment.start_run()
    detail = deployment.finished(run_id)
    tests = {test.id: test for test in deployment.tests(run_id)}
    assert {name: test.verdict for name, test in tests.items()} == {
        "test/test_softmax.py::TestSoftmaxSPYRE::test_softmax_spyre": Verdict.OK,
        CHECK: Verdict.REGRESSION,
    }, deployment.story(run_id)
    assert detail.run.conclusion is Conclusion.FAILURE
    check = tests[CHECK]
    assert "first diverging layer: layers.0.softmax (Softmax)" in check.detail
    assert check.provenance == "models.yaml:4"
    decided = deployment.client.decisions(run_id, kept=True).decisions
    rules = {decision.test: decision.reasons[0] for decision in decided}
    assert detail.selection_state == "selected"
    assert (rules["models/tiny::logits"].rule, rules["models/tiny::logits"].evidence) == (
        "model use",
        f"runs aten::_softmax, an operator of {DECOMPOSITIONS}",
    )
