"""The exported JSON Schema accepts whatever the models accept, and refuses the plain mistakes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from selector.manifests.json_schema import json_schema
from selector.manifests.schema import Manifest

VALIDATOR = Draft202012Validator(json_schema())
SHIPPED = sorted((Path(__file__).parents[3] / "test_manifests").glob("**/*.yaml"))
FULL: dict[str, Any] = yaml.safe_load(
    """
    test_suite_config:
      labels: [unit]
      files:
        - path: ${TORCH_ROOT}/test/test_a.py
          unlisted_test_mode: skip
          labels: [trunk]
          tests:
            - names: [A::test_a]
              mode: xfail
              tags: [one]
              labels: [unit]
              no_grad: true
              edits:
                ops:
                  include:
                    - name: torch.add
                      tags: [a]
                      sample_inputs_func:
                        args:
                          - tensor: {shape: [2, 3], dtype: torch.float16, init: full, init_args: {fill_value: 1}}
                          - tensor_list: [{shape: [2], dtype: half, stride: [1], storage_offset: 0}]
                          - {value: 3}
                          - {py: "(1, None)"}
                        kwargs: {dim: 1}
                  exclude: [{name: mul}]
                dtypes:
                  include: [{name: float16, precision: {atol: 0.1, rtol: 0.1}}]
                  exclude: [{name: int8}]
                modules:
                  include: [{name: Linear, apply_device_layout: true, forward_inputs: [{args: []}]}]
                functions: {cpu_move: [{name: assertEqual}]}
      global:
        supported_dtypes: [{name: float16, force_xfail: false}]
        supported_ops: [add, {name: mul, dtypes: [{name: float16}]}]
        supported_modules: [Linear]
        input_config: {seed: 1}
      models:
        - name: granite
          transformers: {config: GraniteConfig, model: AutoModelForCausalLM, sizes: {hidden_size: 32}}
          seed: 1
          inputs: [{name: input_ids, shape: [1, 8], kind: tokens, below: 64, seed: 2}]
          output: logits
          compiled_by: aot_eager_decomp_partition
          compare: [logits, {name: greedy, tokens: 4}, {name: top_k, k: 3, agreement: 0.5}]
          dtypes: [float32, {name: float16, precision: {atol: 0.1, rtol: 0.1}, force_xfail: true}]
          uses: {recorded_with: torch 2.13.0, operators: [mm], names: [torch.nn.modules.linear.Linear]}
          mode: mandatory_success
          tags: [model]
          labels: [unit]
          reason: it is small
          issue: "#1"
          owner: device team
          expires: "2027-01-31"
          platforms: [x86_64]
          timeout_s: 60
        - {name: own, import_path: "a.b:make", arguments: {width: 2}, inputs: [{shape: [1, 2], kind: normal}],
           output: "", compare: [logits], dtypes: [float32]}
        - {name: local, weights: /models/x, inputs: [{name: input_ids, shape: [1, 2], below: 9}], compare: [logits],
           dtypes: [float16]}
    """
)


def leaves(data: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(leaf for key, value in inner for leaf in leaves(value, (*path, key)))]


def changed(path: tuple[str | int, ...], value: object) -> Any:
    data: Any = {"root": copy.deepcopy(FULL)}
    *parents, last = ("root", *path)
    target = data
    for part in parents:
        target = target[part]
    target[last] = value
    return data["root"]


def accepted_by_models(data: object) -> bool:
    try:
        Manifest.model_validate(data)
    except ValidationError:
        return False
    return True


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_the_shipped_manifests_are_valid(file: Path) -> None:
    VALIDATOR.validate(yaml.safe_load(file.read_text(encoding="utf-8")))


WORDS = [
    "xfail",
    "float16",
    "torch.int8",
    "1e-3",
    " 7 ",
    "1_0",
    "2.0",
    ".5",
    "5.",
    "-inf",
    "NaN",
    "Yes",
    "oFF",
    "t",
    "",
]
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    st.lists(st.sampled_from(WORDS), max_size=2),
    st.just({}) | st.just({"name": "float16"}) | st.just({"args": None}),
)


@given(st.sampled_from(leaves(FULL)), VALUES)
def test_the_schema_accepts_what_the_models_accept(path: tuple[str | int, ...], value: object) -> None:
    data = changed(path, value)
    if accepted_by_models(data):
        VALIDATOR.validate(data)


ENTRY = ("test_suite_config", "files", 0, "tests", 0)
ARGUMENTS = (*ENTRY, "edits", "ops", "include", 0, "sample_inputs_func", "args")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*ENTRY, "names"), "test_a"),
        ((*ENTRY, "no_grad"), "yes"),
        (ARGUMENTS, None),
        ((*ENTRY, "edits", "modules", "include", 0, "forward_inputs"), {"args": []}),
        (("test_suite_config", "global", "supported_ops"), None),
        (("test_suite_config", "global", "supported_ops"), ["add"]),
        (("test_suite_config", "global", "input_config", "seed"), "12"),
        ((*ENTRY, "owner"), "somebody"),
    ],
)
def test_the_lax_forms_are_accepted_by_both(path: tuple[str | int, ...], value: object) -> None:
    assert accepted_by_models(changed(path, value))
    VALIDATOR.validate(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*ENTRY, "mode"), "fail"),
        ((*ENTRY, "names"), 3),
        (("test_suite_config", "files"), None),
        (("test_suite_config", "labels"), "unit"),
        (("test_suite_config", "global", "supported_dtypes", 0), "float16"),
        (("test_suite_config", "global", "supported_dtypes", 0, "name"), "float8"),
        ((*ARGUMENTS, 0, "tensor", "layout"), 1),
        ((*ARGUMENTS, 0, "tensor", "init"), "random"),
    ],
)
def test_plain_mistakes_are_refused(path: tuple[str | int, ...], value: object) -> None:
    assert not VALIDATOR.is_valid(changed(path, value))
