"""Writes into a manifest what its models were seen to use of torch, so that changes lead to them.

Edits keep everything else of the text, comments included. What a model uses is found out by running it, elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from selector.manifests.document import ManifestDocument, read_document
from selector.manifests.lint.edit import SetValue, apply
from selector.manifests.model_rules import MODELS
from selector.manifests.model_schema import ModelUses


def with_uses(document: ManifestDocument, seen: Mapping[str, ModelUses]) -> str:
    """The text in which models, by their names, have what was seen of them. Raises EditError."""
    data = read_document(document)[0].data
    models = data["test_suite_config"].get("models", []) if isinstance(data, dict) else []
    edits = [
        SetValue((*MODELS, index, "uses"), _written(seen[model["name"]]))
        for index, model in enumerate(models)
        if model["name"] in seen
    ]
    return apply(document.text, edits)


def _written(uses: ModelUses) -> dict[str, object]:
    return {name: value for name, value in uses.model_dump(mode="json").items() if value}
