"""Whatever a manifest says, checking and mending it end with findings, and mending never makes it worse."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, ManifestError, load_manifests
from selector.manifests.lint import RULES, lint
from selector.manifests.lint.repair import repair

FULL: dict[str, Any] = yaml.safe_load(
    """
    test_suite_config:
      labels: [unit, nightly]
      files:
        - path: ${TORCH_ROOT}/test/test_a.py
          tests:
            - names: [A::test_a, A::test_a, B::test_b, "test_*", "test_.*"]
              mode: xfail
              tags: [one]
              labels: [smoke]
              edits:
                ops:
                  include: [{name: torch.add, kwargs: {}, sample_inputs_func: {args: [{value: 3, py: "1"}]}}]
                  exclude: [{name: nn.mul}]
                dtypes:
                  include: [{name: float16, precision: {atol: 1e-3, rtol: 0.1}}]
                modules:
                  include: [{name: Linear, forward_inputs: {args: [{tensor: {shape: [1], dtype: half, device: x}}]}}]
            - names: []
            - names: B::test_b
        - path: test/test_a.py
      global:
        supported_dtypes: [{name: float16, force_xfail: false}]
        supported_ops: []
        input_config: {seed: 1}
    """
)


def paths(data: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(below for key, value in inner for below in paths(value, (*path, key)))]


WORDS = ["xfail", "skip", "float16", "1e-3", "1e-9", "nan", "test_a", "A::test_a", "a*", "${X}/a.py", "${TORCH_ROOT}/a"]
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.dictionaries(st.sampled_from(["name", "path", "kwargs", "args", "names", "3"]), st.sampled_from(WORDS)),
)
CHANGES = st.lists(st.tuples(st.sampled_from(paths(FULL)[1:]), VALUES), max_size=3)


def changed(changes: list[tuple[tuple[str | int, ...], object]]) -> str:
    data: Any = copy.deepcopy(FULL)
    for path, value in changes:
        target = data
        try:
            for part in path[:-1]:
                target = target[part]
            target[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    return yaml.safe_dump(data, sort_keys=False)


def loads(text: str) -> bool:
    try:
        load_manifests([ManifestDocument("m.yaml", text)])
    except ManifestError:
        return False
    return True


@given(CHANGES, st.text(alphabet="#'\"&*!|>-:[]{} \n\tax", max_size=6), st.integers(0, 400))
def test_any_text_is_checked_and_mended_without_an_accident(
    changes: list[tuple[tuple[str | int, ...], object]], noise: str, position: int
) -> None:
    text = changed(changes)
    text = text[:position] + noise + text[position:] if noise else text
    document = ManifestDocument("m.yaml", text)
    found = lint([document])
    assert all(finding.rule in RULES and finding.line >= 1 for finding in found)
    done = repair(document)
    assert loads(done.text) == loads(text)
    assert repair(ManifestDocument("m.yaml", done.text)).text == done.text
