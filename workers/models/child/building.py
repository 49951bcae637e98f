"""Makes the model of a check and what it is called with, on the CPU and the same every time.

What a check holds is `selector.manifests.models.ModelCheck.as_json`'s; it is read here as plain JSON.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from workers.runner.child.device import WEIGHTS_VARIABLE

_TOKENS, _NORMAL, _ONES = "tokens", "normal", "ones"


class ModelError(Exception):
    """The model cannot be made, or not be called as the manifest says. The message names cause and next step."""


class PackageMissingError(ModelError):
    """What the model is made of is not installed here: the device is not asked. The message is a refusal's reason."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model in one dtype on the CPU, and the arguments of its call. An empty name: the first positional one."""

    model: Any
    arguments: Mapping[str, Any]
    tokens: str | None

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """What the model answers to the arguments, as it is."""
        first = [arguments[""]] if "" in arguments else []
        return self.model(*first, **{name: value for name, value in arguments.items() if name})


def prepare(check: Mapping[str, Any], dtype: str) -> Prepared:
    """The model with the parameters that the check's seed gives, made in float32, then cast. Raises `ModelError`."""
    torch.manual_seed(check["seed"])
    model = _made(check)
    if not isinstance(model, torch.nn.Module):
        raise ModelError(f"{check['import_path']} gave a {type(model).__name__}, not a torch.nn.Module.")
    kind = _dtype(dtype)
    if getattr(getattr(model, "config", None), "use_cache", False):
        model.config.use_cache = False  # an answer that carries a cache of keys could not be fed to a layer again
    arguments = {one["name"]: _input(one, kind) for one in check["inputs"]}
    tokens = next((one["name"] for one in check["inputs"] if one["kind"] == _TOKENS), None)
    return Prepared(model.eval().requires_grad_(False).to(kind), arguments, tokens)


def _dtype(name: str) -> Any:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ModelError(f"torch has no dtype {name!r}.")
    return found


def _made(check: Mapping[str, Any]) -> Any:
    if check["transformers"] is not None:
        return _of_configuration(_transformers(), check["transformers"])
    return _of_weights(_transformers(), check["weights"]) if check["weights"] else _of_path(check)


def _transformers() -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is ever fetched: a model is made, or read from a folder
    try:
        transformers = importlib.import_module("transformers")
    except ModuleNotFoundError as error:
        raise PackageMissingError(
            f"this Python has no package {error.name!r}; install the project's extra `models` beside torch"
        ) from error
    transformers.logging.set_verbosity_error()
    return transformers


def _of_configuration(transformers: Any, source: Mapping[str, Any]) -> Any:
    configuration = _named(transformers, source["config"])(**source["sizes"])
    if "initializer_range" not in source["sizes"] and hasattr(configuration, "hidden_size"):
        # The families' own 0.02 is made for wide models: in a narrow one every layer adds next to nothing to what goes
        # past it, and a layer that is plainly wrong changes no answer. With this the size of what goes through is kept.
        configuration.initializer_range = configuration.hidden_size**-0.5
    model = _named(transformers, source["model"])
    return model.from_config(configuration) if hasattr(model, "from_config") else model(configuration)


def _of_weights(transformers: Any, folder: str) -> Any:
    """The class that the folder's own configuration names."""
    path = Path(os.environ.get(WEIGHTS_VARIABLE, ""), folder)
    if not path.is_dir():
        raise ModelError(
            f"there is no folder {folder!r} with weights that tests may read; put it into the folder that the worker's "
            "RELAY_MODEL_WEIGHTS names."
        )
    closed = next((file.name for file in sorted(path.iterdir()) if not os.access(file, os.R_OK)), None)
    if closed is not None:  # safetensors writes files for its own user alone, which tests are not
        raise ModelError(f"tests may not read {closed} in the folder {folder!r}; let all users read it (chmod a+r).")
    configuration = transformers.AutoConfig.from_pretrained(path, local_files_only=True)
    architecture = next(iter(configuration.architectures or ()), "AutoModel")
    return _named(transformers, architecture).from_pretrained(path, local_files_only=True, dtype=torch.float32)


def _named(transformers: Any, name: str) -> Any:
    found = getattr(transformers, name, None)
    if found is None:
        raise ModelError(f"transformers {transformers.__version__} has no {name!r}.")
    return found


def _of_path(check: Mapping[str, Any]) -> Any:
    module, _, name = check["import_path"].partition(":")
    try:
        factory = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise PackageMissingError(
            f"this Python has no module {error.name!r}, which the model {check['name']} needs; install it beside torch"
        ) from error
    if not callable(factory):
        raise ModelError(f"the module {module} has no function {name!r} that makes the model.")
    return factory(**check["arguments"])


def _input(one: Mapping[str, Any], dtype: Any) -> Any:
    shape, generator = list(one["shape"]), torch.Generator().manual_seed(one["seed"])
    if one["kind"] == _TOKENS:
        return torch.randint(0, one["below"], shape, generator=generator)
    if one["kind"] == _NORMAL:
        # Drawn whole and then shaped: what torch draws must not depend on how it walks through a shape.
        return torch.randn(math.prod(shape), generator=generator).reshape(shape).to(dtype)
    if one["kind"] == _ONES:
        return torch.ones(shape, dtype=torch.int64)
    raise ModelError(f"an input cannot be of the kind {one['kind']!r}.")
