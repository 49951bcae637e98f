"""The CPU's answer to a check, as bytes that are kept: what comes out, what is decoded, what every layer got and gave.

Read with torch's reader for tensors alone, which runs nothing that a file says.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from workers.models.child.answering import Decoded, decoded, numbers
from workers.models.child.building import Prepared, prepare
from workers.models.child.layers import Recording, record

_LOGITS_LIKE, _GREEDY = ("logits", "top_k"), "greedy"


@dataclass(frozen=True, slots=True)
class DtypeReference:
    """What the CPU answers in one dtype. `parameters` are digests by name; `output` or `decoded` is None where no
    comparison needs it."""

    parameters: Mapping[str, str]
    output: Any
    decoded: Decoded | None
    recording: Recording


def made(check: Mapping[str, Any]) -> bytes:
    """The reference of a check in all of its dtypes, from what runs here, on the CPU and eagerly."""
    parts = {dtype: asdict(_answered(check, dtype)) for dtype in check["dtypes"]}
    target = io.BytesIO()
    torch.save(parts, target)
    return target.getvalue()


def read(data: bytes) -> dict[str, DtypeReference]:
    """The references of `made`, by dtype. Raises what torch raises for a file that is damaged."""
    parts = torch.load(io.BytesIO(data), weights_only=True)
    return {dtype: _read(part) for dtype, part in parts.items()}


def parameter_digests(model: Any) -> dict[str, str]:
    """A short digest of each parameter's bytes."""
    return {name: _digest(value) for name, value in model.named_parameters()}


def _answered(check: Mapping[str, Any], dtype: str) -> DtypeReference:
    prepared = prepare(check, dtype)
    answers: list[Any] = []

    def call() -> None:
        answers.append(numbers(prepared, check["output"], "cpu") if _wants(check, *_LOGITS_LIKE) else None)
        if not answers[0] is not None:
            prepared.call(prepared.arguments)

    recording = record(prepared.model, call)
    return DtypeReference(parameter_digests(prepared.model), answers[0], _decoded(check, prepared), recording)


def _decoded(check: Mapping[str, Any], prepared: Prepared) -> Decoded | None:
    return decoded(prepared, check["output"], "cpu", check["greedy_tokens"]) if _wants(check, _GREEDY) else None


def _wants(check: Mapping[str, Any], *comparisons: str) -> bool:
    return any(one in check["comparisons"] for one in comparisons)


def _read(part: Mapping[str, Any]) -> DtypeReference:
    found = part["decoded"]
    return DtypeReference(
        part["parameters"], part["output"], None if found is None else Decoded(**found), Recording(**part["recording"])
    )


def _digest(value: Any) -> str:
    content = value.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return hashlib.sha256(content).hexdigest()[:16]
