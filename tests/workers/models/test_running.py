"""Whole models on the device, held against the CPU: in children of the runner, as upstream's tests are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from relay.contract import Observation
from selector.manifests.models import Comparison
from tests.workers.models.model_bench import CHECK, ModelBench, changed_torch
from workers.runner.runner import Runner
from workers.runner.sandbox import Unconfined
from workers.runner.types import Installation

RESTRICTED = "spyre-2026-06"


@pytest.fixture
def models(tmp_path: Path) -> ModelBench:
    return ModelBench(tmp_path)


@pytest.fixture(scope="module")
def compat(device_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """One runner for the module, whose warm parent has imported torch already."""
    with Runner(Installation("spyre", device_library), tmp_path_factory.mktemp("scratch"), Unconfined("")) as runner:
        yield runner


@pytest.fixture(scope="module")
def restricted(device_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    installation = Installation("spyre", device_library, profile=RESTRICTED)
    with Runner(installation, tmp_path_factory.mktemp("restricted"), Unconfined("")) as runner:
        yield runner


def test_a_model_that_agrees_passes_and_its_reference_is_kept(models: ModelBench, compat: Runner) -> None:
    """One outcome for each comparison and dtype, with the operators that the device ran; base is asked once."""
    outcomes = models.run(compat, CHECK)
    assert {name: outcome.detail for name, outcome in outcomes.items()} == {
        f"{comparison}[{dtype}]": "" for comparison in Comparison for dtype in CHECK.dtypes
    }
    assert {outcome.observation for outcome in outcomes.values()} == {Observation.PASSED}
    assert all("aten::embedding" in outcome.operators for outcome in outcomes.values())
    models.run(compat, replace(CHECK, agreement=0.5))
    assert models.based == 1


def test_a_wrong_decomposition_is_told_with_its_first_layer(models: ModelBench, compat: Runner, tmp_path: Path) -> None:
    """The layer that has the operator, not those it reaches. Eager mode does without decompositions and agrees."""
    wrong = changed_torch(
        tmp_path / "wrong",
        {
            "_decomp/decompositions.py": lambda text: text.replace(
                "    unnormalized = torch.exp(x - x_max)\n    result =",
                "    unnormalized = torch.exp((x - x_max) * 0.9)\n    result =",
            )
        },
    )
    check = replace(CHECK, comparisons=(Comparison.LOGITS,), dtypes=("float32",))
    assert models.run(compat, check, wrong)["logits[float32]"].observation is Observation.PASSED
    compiled = replace(check, compiled_by="aot_eager_decomp_partition")
    outcome = models.run(compat, compiled, wrong)["logits[float32]"]
    assert outcome.observation is Observation.FAILED
    first, where = outcome.detail.split("\n")
    assert first.startswith("answer: ")
    assert where.startswith("first diverging layer: layers.0.softmax (Softmax), given what it got on the CPU: ")
    assert where.endswith("The 3 calls of layers before it agree.")
    assert models.based == 1


def test_what_a_profile_refuses_is_named_and_the_rest_is_still_compared(models: ModelBench, restricted: Runner) -> None:
    """The refusal stands first: by it the verdict is `unsupported`."""
    check = replace(CHECK, comparisons=(Comparison.LOGITS,), dtypes=("float16",))
    supported = models.run(restricted, check)["logits[float16]"]
    assert (supported.observation, supported.detail) == (Observation.PASSED, "")
    refused = models.run(restricted, replace(check, arguments={"activation": "GELU"}))["logits[float16]"]
    assert refused.observation is Observation.FAILED
    lines = refused.detail.split("\n")
    assert lines[0].startswith("spyre: unsupported: operator-missing: the device does not have aten::gelu")
    assert lines[1].startswith("first diverging layer: layers.0.activation (GELU)")
    assert lines[2].startswith("The device refuses 1 kinds of calls of this model: operator-missing")
    assert lines[3] == "With these done by the host the answer agrees with the CPU's."


def test_a_missing_package_is_refused_by_a_rule_with_the_next_step(models: ModelBench, compat: Runner) -> None:
    outcomes = models.run(compat, replace(CHECK, import_path="no_such_package:make"))
    assert len(outcomes) == len(list(CHECK.collected()))
    assert {outcome.detail for outcome in outcomes.values()} == {
        "the CPU has no answer on base: spyre: unsupported: package-missing: this Python has no module "
        "'no_such_package', which the model tiny needs; install it beside torch"
    }


def test_a_model_that_cannot_be_made_is_told_without_the_machine_s_folders(
    models: ModelBench, compat: Runner, tmp_path: Path
) -> None:
    """The detail ends on public pages."""
    outcome = models.run(compat, replace(CHECK, arguments={"depth": 3}))["logits[float32]"]
    first, *places = outcome.detail.split("\n")
    assert first.endswith("TypeError: make() got an unexpected keyword argument 'depth'")
    assert "workers/models/child/building.py" in places[-1]
    assert not any(place.startswith("/") for place in places)
    assert str(tmp_path) not in outcome.detail


def test_a_model_that_ends_its_process_takes_one_test_with_it(models: ModelBench, compat: Runner) -> None:
    """As a test file's crash does."""
    source = models.tree.checkout / "test/tiny_model.py"
    crash = "        if hidden.device.type != 'cpu' and str(hidden.dtype) == 'torch.float32':\n            os.abort()\n"
    text = source.read_text().replace("        for layer in", f"{crash}        for layer in", 1)
    source.write_text(f"import os\n{text}")
    outcomes = models.run(compat, replace(CHECK, comparisons=(Comparison.LOGITS,)))
    assert outcomes["logits[float32]"].observation is Observation.CRASHED
    assert outcomes["logits[float16]"].observation is Observation.PASSED
