"""Whole models in manifests: what is refused, which tests they stand for, and what is expected of these."""

from __future__ import annotations

import json
from datetime import date

import pytest

from selector.manifests import ManifestDocument, ManifestError, ManifestSet, Profile, admit, load_manifests, plan
from selector.manifests.explaining.explain import UnknownTestError, explain, guess_test
from selector.manifests.lint import lint
from selector.manifests.merge import merge
from selector.manifests.models import Comparison, DtypeTolerance, InputKind, ModelCheck, ModelInput, TransformersModel
from selector.types import BaseTest, Candidate, Mode

GRANITE = """\
test_suite_config:
  files: []
  models:
    - name: granite
      transformers: {config: GraniteConfig, sizes: {hidden_size: 32, vocab_size: 64}}
      inputs: [{name: input_ids, shape: [1, 8], below: 64, seed: 3}]
      compare: [logits, {name: greedy, tokens: 4}, {name: top_k, k: 3, agreement: 0.5}]
      dtypes:
        - {name: float16, precision: {rtol: 0.01}}
        - {name: bfloat16, force_xfail: true}
      tags: [model]
      timeout_s: 30
"""
OWN = """\
test_suite_config:
  files: []
  models:
    - {name: own, import_path: "a.b:make", inputs: [{shape: [2], kind: normal}], compare: [logits], dtypes: [float32]}
"""


def loaded(*texts: str) -> ManifestSet:
    return load_manifests([ManifestDocument(f"{number}.yaml", text) for number, text in enumerate(texts)])


def test_a_model_becomes_a_check_that_survives_json() -> None:
    check = loaded(GRANITE).models["models/granite"].check
    assert check == ModelCheck(
        name="granite",
        inputs=(ModelInput("input_ids", (1, 8), InputKind.TOKENS, 64, 3),),
        comparisons=(Comparison.LOGITS, Comparison.GREEDY, Comparison.TOP_K),
        dtypes=("float16", "bfloat16"),
        tolerances={"float16": DtypeTolerance(0.0, 0.01), "bfloat16": DtypeTolerance(1e-1, 1e-1)},
        transformers=TransformersModel("GraniteConfig", {"hidden_size": 32, "vocab_size": 64}),
        greedy_tokens=4,
        top_k=3,
        agreement=0.5,
    )
    assert ModelCheck.from_json(json.loads(json.dumps(check.as_json()))) == check


@pytest.mark.parametrize("damage", [{}, {"inputs": [{"shape": 3}]}, {"compare": []}])
def test_what_is_no_check_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a model check"):
        ModelCheck.from_json(damage)


def test_there_is_a_test_for_each_comparison_and_dtype_with_its_expectation_and_line() -> None:
    manifests = loaded(GRANITE)
    planned = plan(tuple(manifests.models["models/granite"].check.collected()), manifests, "spyre")
    assert {one.test.id: (one.expectation.mode, one.expectation.provenance) for one in planned} == {
        f"models/granite::{comparison}[{dtype}]": (mode, "0.yaml:4")
        for comparison in ("logits", "greedy", "top_k")
        for dtype, mode in (("float16", Mode.MANDATORY_SUCCESS), ("bfloat16", Mode.XFAIL))
    }
    assert {(one.expectation.rule, one.expectation.tags, one.expectation.timeout_s) for one in planned} == {
        ("listed", ("model",), 30.0)
    }


def test_a_manifest_that_skips_a_model_keeps_it_from_running_before_anything_is_collected() -> None:
    candidates = [Candidate(BaseTest(f"models/{name}", "", "logits")) for name in ("granite", "unknown")]
    skipping = loaded(GRANITE.replace("      tags", "      mode: skip\n      tags"))
    assert [one.test.file for one in admit(candidates, loaded(GRANITE)).kept] == ["models/granite"]
    assert admit(candidates, skipping).kept == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: granite", "name: a/b", "a model's name is made of"),
        ("transformers: {", 'import_path: "a:b"\n      transformers: {', "a model comes from one of"),
        (
            "transformers: {config: GraniteConfig, sizes: {hidden_size: 32, vocab_size: 64}}",
            "seed: 1",
            "comes from one",
        ),
        (
            "transformers: {config: GraniteConfig, sizes: {hidden_size: 32, vocab_size: 64}}",
            "import_path: a.b",
            "write",
        ),
        (", below: 64", "", "tokens need `below`"),
        ("[1, 8]", "[4096, 4096]", "meant to be small"),
        ("shape: [1, 8], below", "shape: [1, 8], kind: normal, below", "`greedy` goes on from tokens"),
        ("name: bfloat16", "name: int8", "a model is computed in"),
        ("name: bfloat16", "name: float16", "a dtype stands there twice"),
        ("[logits,", "[logits, logits,", "a comparison stands there twice"),
        ("tags: [model]", "compiled_by: a b", "write the name of a backend"),
        ("[1, 8]", "[0]", "`shape`: Input should be greater than 0"),
        ("inputs: [{name: input_ids, shape: [1, 8], below: 64, seed: 3}]", "inputs: []", "`inputs`: an empty list"),
        ("[logits,", "[loggits,", "`name` must be"),
    ],
)
def test_what_makes_no_model_is_refused_at_its_place(old: str, new: str, message: str) -> None:
    with pytest.raises(ManifestError, match=message) as refused:
        loaded(GRANITE.replace(old, new))
    assert all(4 <= finding.line <= 11 for finding in refused.value.errors)


def test_the_first_of_two_models_with_one_name_counts() -> None:
    manifests = loaded(OWN, OWN)
    assert manifests.models["models/own"].provenance == "0.yaml:4"
    assert [finding.rule for finding in manifests.findings] == ["duplicate-model"]


def test_an_expired_excuse_of_a_model_and_a_closed_issue_are_found() -> None:
    text = OWN.replace("dtypes: [", 'mode: skip, expires: 2026-01-31, issue: "a/b#1", dtypes: [')
    found = lint([ManifestDocument("m.yaml", text)], today=date(2026, 2, 1), closed=frozenset({"a/b#1"}))
    assert {finding.rule for finding in found} == {"expired-entry", "closed-issue", "model-without-uses"}


def test_merged_manifests_keep_their_models_and_know_where_these_stood() -> None:
    merged = merge([ManifestDocument("a.yaml", GRANITE), ManifestDocument("b.yaml", OWN)])
    models = load_manifests([merged.document]).models
    assert {file: merged.origin(rules.provenance) for file, rules in models.items()} == {
        "models/granite": "a.yaml:4",
        "models/own": "b.yaml:4",
    }


def test_a_models_test_is_explained_alike_in_both_profiles() -> None:
    manifests = loaded(GRANITE)
    test = guess_test("models/granite::logits[bfloat16]", manifests, "spyre")
    found = explain(manifests, test, device="spyre", guessed=True)
    assert (found.compat.profile, found.strict.profile) == (Profile.COMPAT, Profile.STRICT)
    assert found.compat.resolution == found.strict.resolution
    assert (found.compat.resolution.mode, found.traps, found.guessed) == (Mode.XFAIL, (), False)
    with pytest.raises(UnknownTestError, match="no test"):
        guess_test("models/granite::logits[int8]", manifests, "spyre")
