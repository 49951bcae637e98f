"""The key of a plan: one digest of everything that decides it.

Same key, same plan: on another machine, after a restart, in a process that orders its sets in another way. What stands
for each input is its content: the selector by its sources and weights, the trees by their git ids, what is known by
what it answered, a model by what it said.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Protocol, runtime_checkable

from selector.cut.request import Cut
from selector.manifests import ManifestSet
from selector.trees import SourceTree, tree_id_of
from selector.triage import LlmClient
from selector.types import Candidate, Stage

_SOURCES = (".py", ".json")


@runtime_checkable
class _NamedModel(Protocol):
    @property
    def model(self) -> str:
        """Its name."""


@cache
def selector_digest() -> str:
    """SHA-256 of the sources of the selector, its weights and prompts with them, and of the Python that parses."""
    digest = hashlib.sha256(f"{sys.implementation.cache_tag} {sys.version}".encode())
    for name, content in _sources(resources.files("selector"), ""):
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_SOURCES):
            yield f"{prefix}{entry.name}", entry.read_bytes()


def plan_key(
    *,
    diff: str,
    words: tuple[str, str],
    base: SourceTree,
    head: SourceTree,
    manifests: ManifestSet | None,
    model: str,
    heard: str,
    device: str,
    cut: Cut,
) -> str:
    """The key, in hexadecimal digits. `words` are the title and the body of the change; `model` is of `model_digest`,
    `heard` of `Heard`. A tree without an id counts by the diff alone."""
    parts = {
        "selector": selector_digest(),
        "diff": _digest(diff),
        "words": [_digest(text) for text in words],
        "trees": [tree_id_of(base), tree_id_of(head)],
        "manifests": manifests.digest if manifests is not None else None,
        "model": model,
        "heard": heard,
        "device": device,
        "cut": asdict(cut),
    }
    return _digest(json.dumps(parts, sort_keys=True))


def model_digest(llm: LlmClient | None, decided: Iterable[Candidate]) -> str:
    """What a model is and what it said, empty without one. Its answers are an input like any other: asked again, it may
    say something else, and that is another plan."""
    if llm is None:
        return ""
    said = [
        [str(candidate.test), reason.rule, reason.score, candidate.probability]
        for candidate in decided
        for reason in candidate.reasons
        if reason.stage is Stage.TRIAGE
    ]
    name = llm.model if isinstance(llm, _NamedModel) else ""
    return _digest(json.dumps([type(llm).__name__, name, said]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
