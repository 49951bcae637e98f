"""`relay manifest model-ops`: what of torch the models of manifests use, recorded where selections look for it.

A model is made and called in a process of its own; the workers' room, which owns that program, is never imported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.manifests import model_text as text
from relay.cli.manifests.resolve_options import ManifestsArgument
from relay.cli.manifests.unified import unified
from relay.cli.options import JsonOption
from relay.cli.output import Output

if TYPE_CHECKING:
    from selector.manifests import ManifestDocument, ManifestSet
    from selector.manifests.model_rules import ModelRules
    from selector.manifests.model_schema import ModelUses

#: Importing torch and a package of models takes most of it.
_TIMEOUT_S = 600.0
#: Where `weights` of a model begin, as on a worker.
_WEIGHTS = "RELAY_MODEL_WEIGHTS"


def model_ops(
    paths: ManifestsArgument = None,
    *,
    names: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="Only this model; may be repeated.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Change the manifests instead of showing a diff.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run each model once on the CPU and record what of torch it uses: a change of that leads to the model's tests.

    The code of the models runs here, with the installed torch. The diff goes to stdout. Record again when a model, or
    the package that it comes from, has changed.

    \b
    Examples:
      relay manifest model-ops test_manifests/models
      relay manifest model-ops --model granite --write
    """
    from relay.cli.manifests.sources import loaded, named_documents
    from relay.cli.manifests.writing import write_file

    shown = Output(as_json)
    documents = named_documents(paths)
    manifests = loaded(documents)
    wanted = _wanted(manifests, names)
    seen = {model.check.name: _seen(shown, model) for model in wanted}
    changed = [(document, text) for document in documents if (text := _edited(document, wanted, seen)) != document.text]
    if write:
        for document, edited in changed:
            write_file(Path(document.name), edited)
    _report(shown, seen, changed, written=write)


def _wanted(manifests: ManifestSet, names: Sequence[str] | None) -> list[ModelRules]:
    from relay.cli.manifests.text import did_you_mean_one_of
    from relay.failures import Failure

    known = {model.check.name: model for model in manifests.models.values()}
    if not known:
        raise Failure(text.no_models(), text.no_models_hint(), code="no_models")
    unknown = next((name for name in names or () if name not in known), None)
    if unknown is not None:
        raise Failure(text.unknown_model(unknown), did_you_mean_one_of(sorted(known)), code="unknown_model")
    return [known[name] for name in dict.fromkeys(names or known)]


def _seen(shown: Output, model: ModelRules) -> ModelUses:
    from relay.cli.programs import run_program
    from relay.failures import Failure
    from selector.manifests.model_schema import ModelUses

    name, asked = model.check.name, json.dumps(model.check.as_json())
    shown.note(text.recording(name))
    told = {_WEIGHTS: os.environ[_WEIGHTS]} if _WEIGHTS in os.environ else {}
    answer = run_program("workers.models.record", (), told, shown.note, timeout_s=_TIMEOUT_S, asked=asked)
    if answer.code:
        raise Failure(text.not_run(name, answer.error), text.not_run_hint(), code="model_not_run")
    return ModelUses.model_validate_json(answer.output)


def _edited(document: ManifestDocument, models: Sequence[ModelRules], seen: dict[str, ModelUses]) -> str:
    from relay.cli.manifests.folder import BadManifests
    from selector.manifests.authoring.model_uses import with_uses
    from selector.manifests.lint.edit import EditError

    own = {model.check.name for model in models if model.provenance.rpartition(":")[0] == document.name}
    try:
        return with_uses(document, {name: uses for name, uses in seen.items() if name in own})
    except EditError as error:
        raise BadManifests(text.not_edited(document.name, str(error)), text.not_edited_hint()) from error


def _report(
    shown: Output, seen: dict[str, ModelUses], changed: Sequence[tuple[ManifestDocument, str]], *, written: bool
) -> None:
    from selector.manifests import ManifestDocument

    pairs = [(document, ManifestDocument(document.name, edited)) for document, edited in changed]
    diff = "".join(line for before, after in pairs for line in unified(before, after))
    if shown.as_json:
        models = {name: uses.model_dump(mode="json") for name, uses in seen.items()}
        shown.data({"models": models, "diff": diff, "written": written})
    elif diff and not written:
        shown.say(diff.removesuffix("\n"))
    for name, uses in seen.items():
        shown.note(text.recorded(name, len(uses.operators), len(uses.names)))
    shown.note(text.outcome(len(changed), written=written))
