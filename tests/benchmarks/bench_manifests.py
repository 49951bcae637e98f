"""How long a large manifest takes to load, next to PyYAML's own safe loader in the same run.

`python -m tests.benchmarks.bench_manifests [FILE...]`; without a file, a manifest of model operators of the size of
the largest public one (638 kB) is made up. Prints the best of several rounds, in seconds. "loaded" means checked
against the schema and compiled, with every finding placed; `yaml.safe_load` only makes plain data.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import yaml

from selector.manifests import ManifestDocument, load_manifests

SIZE = 638_000
HEAD = """\
test_suite_config:
  labels: [regression]
  global:
    input_config: {seed: 123}
  files:
    - path: ${TORCH_DEVICE_ROOT}/tests/models/test_model_ops.py
      unlisted_test_mode: skip
      tests:
        - names:
            - TestModelOps::test_model_ops
          edits:
            ops:
              include:
"""
OPERATOR = """\
                - name: torch.nn.functional.linear
                  description: sample %d
                  tags:
                    - linear.%d
                  sample_inputs_func:
                    args:
                      - tensor:
                          shape: [%d, 1, 4096]
                          dtype: torch.float16
                          device: cpu
                          init: rand
                      - tensor:
                          shape:
                            - 128
                            - 4096
                          dtype: torch.bfloat16
                          init: xavier
                      - value: null
                    kwargs:
                      bias: null
"""


def made_up(size: int = SIZE) -> str:
    """A manifest of at least `size` characters that loads without a finding."""
    parts = [HEAD]
    length = len(HEAD)
    while length < size:
        parts.append(OPERATOR % (len(parts), len(parts), len(parts)))
        length += len(parts[-1])
    return "".join(parts)


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """The shortest of several rounds, in seconds: what the machine can do when nothing else runs on it."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Measure every file, or the made-up one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    texts = {str(file): file.read_text(encoding="utf-8") for file in wanted.files} or {"made up": made_up()}
    for name, text in texts.items():
        document = ManifestDocument("m.yaml", text)
        ours = best_of(wanted.rounds, partial(load_manifests, [document]))
        theirs = best_of(wanted.rounds, partial(yaml.safe_load, text))
        sys.stdout.write(
            f"{name}: {len(text) / 1000:.0f} kB, loaded in {ours:.3f} s, "
            f"yaml.safe_load in pure Python {theirs:.3f} s: {theirs / ours:.1f} times as fast\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
