"""Whole models are led to by what they were seen to use of torch, and stand in no other rule's way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pytest

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Reached, Status
from selector.change.facts import Effect, Fact, FactKind
from selector.cut import Cut
from selector.known import Known
from selector.manifests import ManifestDocument, ManifestSet, load_manifests
from selector.ownership import link_tests
from selector.ownership.models import model_files, model_links
from selector.pipeline import Outcome, select
from selector.trees import GitTree, git_diff
from selector.types import SelectionState, Stage
from tests.selector.upstream import MemoryTree, Repository

MODELS = """\
test_suite_config:
  files:
    - {path: "${TORCH_ROOT}/test/test_linear.py", unlisted_test_mode: mandatory_success}
  models:
    - name: granite
      import_path: "a:b"
      inputs: [{shape: [1], below: 2}]
      compare: [logits, greedy]
      dtypes: [float16]
      uses:
        operators: ["aten::rsqrt", "aten::_safe_softmax", "aten::safe_softmax_"]
        names: [torch.nn.modules.linear.Linear]
"""
UNKNOWN = MODELS.replace("granite", "unknown").partition("      uses")[0]
SOURCE = {
    "torch/nn/modules/linear.py": "class Linear:\n    def forward(self, x):\n        return x\n",
    "torch/_decomp/decompositions.py": "def rsqrt(x):\n    return x\n\n\ndef tanh(x):\n    return x\n",
    "torch/lonely.py": "def lonely():\n    return 1\n",
    "test/test_math.py": "class TestMath(TestCase):\n    def test_rsqrt(self):\n        rsqrt(1)\n",
    "test/test_linear.py": "class TestLinear(TestCase):\n    def test_linear(self):\n        Linear()\n",
}


def manifests(text: str = MODELS) -> ManifestSet:
    return load_manifests([ManifestDocument("m.yaml", text)])


def evidence(file: FileChange, text: str = MODELS) -> set[str]:
    return {found.reason.evidence for found in model_links([file], model_files(manifests(text)))}


def changed(
    path: str,
    *names: str,
    facts: tuple[Fact, ...] = (),
    category: Category = Category.PYTHON_SOURCE,
    module_level: bool = False,
) -> FileChange:
    reached = tuple(Reached(name, name) for name in names)
    return FileChange(
        path, None, Status.MODIFIED, category, reached=reached, facts=facts, module_level=module_level
    )  # fmt: skip


def kernel(effect: Effect, kind: FactKind = FactKind.KERNEL) -> FileChange:
    fact = Fact("aten/src/ATen/native/UnaryOps.cpp", kind, "rsqrt_kernel", "rsqrt", effect)
    return changed(fact.file, facts=(fact,), category=Category.NATIVE)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (changed("torch/_decomp/decompositions.py", "rsqrt"), "runs aten::rsqrt, an operator of torch/_decomp/"),
        (changed("torch/_decomp/decompositions.py", "safe_softmax"), "runs aten::_safe_softmax, an operator of torch/"),
        (kernel(Effect.BEHAVIOUR), "runs aten::rsqrt, an operator of aten/src/ATen/native/UnaryOps.cpp"),
        (changed("torch/nn/modules/linear.py", "Linear"), "uses torch.nn.modules.linear.Linear"),
        (changed("torch/nn/modules/linear.py", module_level=True), "uses torch.nn.modules.linear.Linear of torch/nn/"),
    ],
)
def test_a_change_of_what_a_model_uses_leads_to_all_of_its_tests(file: FileChange, said: str) -> None:
    links = list(model_links([file], model_files(manifests())))
    assert [(found.test.test.name, found.must_run) for found in links] == [("logits", True), ("greedy", True)]
    assert links[0].reason.evidence.startswith(said)


@pytest.mark.parametrize(
    "file",
    [
        changed("torch/_decomp/decompositions.py", "tanh"),
        changed("torch/nn/modules/linear.py", "Bilinear"),
        changed("torch/distributions/linear.py", "Linear"),
        changed("torch/testing/_internal/x.py", "Linear", category=Category.TEST_HARNESS),
        kernel(Effect.GRADIENT),
        kernel(Effect.OTHER_BACKEND),
        kernel(Effect.SAMPLES, FactKind.OP_INFO),
    ],
)
def test_a_change_of_something_else_does_not(file: FileChange) -> None:
    assert evidence(file) == set()


def test_every_change_of_code_leads_to_a_model_of_which_nothing_is_on_record() -> None:
    lonely = changed("torch/lonely.py", "lonely")
    said = "nothing is on record of what models/unknown uses, and torch/lonely.py changes"
    assert (evidence(lonely), evidence(lonely, UNKNOWN)) == (set(), {said})


def selected(repository: Repository, files: dict[str, str], text: str = MODELS, cut: Cut | None = None) -> Outcome:
    base, head = repository.commit(SOURCE), repository.commit(files)
    with GitTree(repository.path, base) as before, GitTree(repository.path, head) as after:
        diff = git_diff(repository.path, base, head)
        return select(diff, before, after, llm=None, manifests=manifests(text), cut=cut or Cut())


def kept(outcome: Outcome) -> set[str]:
    return {str(candidate.test) for candidate in outcome.selection.kept}


def test_the_diff_alone_selects_the_check_and_says_why(repository: Repository) -> None:
    path = "torch/_decomp/decompositions.py"
    wrong = SOURCE[path].replace("return x", "return x + 1", 1)
    outcome = selected(repository, {path: wrong})
    assert outcome.selection.state is SelectionState.SELECTED
    assert kept(outcome) == {"models/granite::logits", "models/granite::greedy"}
    chain = next(one for one in outcome.selection.kept if one.test.name == "logits").reasons
    assert [(reason.stage, reason.rule) for reason in chain if reason.stage is not Stage.TRIAGE] == [
        (Stage.OWNERSHIP, "model use"),
        (Stage.OWNERSHIP, "weighed signals"),
        (Stage.MANIFESTS, "listed"),
    ]
    assert chain[-1].evidence == "m.yaml:5: mandatory_success"


def test_a_link_to_a_model_keeps_nothing_from_being_widened(repository: Repository) -> None:
    outcome = selected(repository, {"torch/lonely.py": "def lonely():\n    return 2\n"}, UNKNOWN)
    assert outcome.selection.state is SelectionState.WIDENED
    assert kept(outcome) == {"test/test_linear.py::TestLinear::test_linear"} | {
        "models/unknown::logits",
        "models/unknown::greedy",
    }


def test_models_run_when_everything_is_asked_for(repository: Repository) -> None:
    outcome = selected(repository, {"docs/a.rst": "Docs\n"}, cut=Cut(full="asked for"))
    assert {"models/granite::logits", "test/test_linear.py::TestLinear::test_linear"} <= kept(outcome)
    assert outcome.selection.cost is not None
    assert outcome.selection.cost.full_s == 3.0  # of all that can run here: two tests of a model, one of a file


def test_what_the_device_saw_a_model_use_leads_to_it_as_to_any_test() -> None:
    @dataclass
    class Seen:
        def tests_using(self, operators: Collection[str]) -> Mapping[str, Collection[str]]:
            return {"aten::tanh": ["models/granite::logits"]}

    change = ChangeSet((changed("torch/_decomp/decompositions.py", "tanh"),))
    models, catalog = model_files(manifests()), build_catalog(MemoryTree(SOURCE))
    found = link_tests(change, catalog, known=Known(observed=Seen()), models=models).candidates
    assert [reason.rule for one in found if one.test.name == "logits" for reason in one.reasons][:1] == [
        "observed operator"
    ]
