"""Examples of the API's bodies, by the names of their models. They are made as models, so none can go out of date.

A model that has an example on its own class needs none here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from relay.web.description.examples.logs import LOGS
from relay.web.description.examples.overview import OVERVIEW
from relay.web.description.examples.runs import RUNS, TEST
from relay.web.description.examples.upgrades import UPGRADES
from relay.web.description.examples.work import WORK

_MODELS: tuple[BaseModel, ...] = (*RUNS, *LOGS, *OVERVIEW, *UPGRADES, *WORK)


def examples_of_classes() -> dict[str, object]:
    """The first example on each class of ours that has one, by its name. FastAPI's document has them as well, but it
    leaves out what is null in them."""
    return {model.__name__: example for model in _ours(BaseModel) for example in _on_class(model)[:1]}


def _ours(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for one in model.__subclasses__():
        if one.__module__.startswith("relay."):
            yield one
        yield from _ours(one)


def _on_class(model: type[BaseModel]) -> list[object]:
    extra = model.__dict__.get("model_config", {}).get("json_schema_extra")
    found = extra.get("examples") if isinstance(extra, dict) else None
    return list(found) if isinstance(found, list) else []


EXAMPLES: Mapping[str, object] = {type(model).__name__: model.model_dump(mode="json") for model in _MODELS}

#: Of parameters that say nothing by themselves.
PARAMETERS: Mapping[str, object] = {
    "run_id": 128,
    "shard_id": 512,
    "audit_id": 120,
    "letter_id": 96,
    "row_id": 41,
    "token_id": 3,
    "upgrade_id": 2,
    "owner": "acme",
    "name": "torch-acme",
    "number": 4711,
    "sha": "1f1f1f1f",
    "id": TEST,
    "test": TEST,
    "device": "spyre",
    "repo": "pytorch/pytorch",
    "query": "crcr_backend_summary",
}
