"""Which modules the warm parent imports before it forks, so that its children need not: known ones, by need.

Every module here was seen to start no thread and to run no backward pass when imported (torch 2.13), both of which a
fork does not survive. Only what a file mentions is imported, because `common_utils` changes torch's global settings.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_INTERNAL = (
    "autograd_function_db",
    "common_cuda",
    "common_device_type",
    "common_dist_composable",
    "common_dtype",
    "common_jit",
    "common_methods_invocations",
    "common_mkldnn",
    "common_modules",
    "common_nn",
    "common_optimizers",
    "common_pruning",
    "common_quantization",
    "common_quantized",
    "common_subclass",
    "common_utils",
    "composite_compliance",
    "custom_op_db",
    "hop_db",
    "inductor_utils",
    "jit_utils",
    "logging_tensor",
    "two_tensor",
)
_OTHERS = ("expecttest", "hypothesis", "numpy", "torch._dynamo")
#: What a file's text has to contain for modules to be imported.
MODULES: dict[str, tuple[str, ...]] = {name: (f"torch.testing._internal.{name}",) for name in _INTERNAL}
MODULES |= {name: (name,) for name in _OTHERS}
# PyTorch's own test class imports it, a second's worth, when the first test of a process runs.
MODULES["common_utils"] += ("torch._dynamo",)
_MENTION = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in sorted(MODULES, key=len, reverse=True)))
_READ_CHARS = 1 << 20


def preload(path: Path, wanted: Mapping[str, tuple[str, ...]] = MODULES) -> None:
    """Import what the file at `path` mentions. What cannot be imported is left to the child, which will tell."""
    try:
        with path.open(errors="replace") as source:
            text = source.read(_READ_CHARS)
    except OSError:
        return
    words = dict.fromkeys(_MENTION.findall(text))
    for module in dict.fromkeys(module for word in words for module in wanted[word]):
        with suppress(Exception, SystemExit):
            importlib.import_module(module)
