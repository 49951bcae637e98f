"""Words of `relay manifest model-ops`."""

from __future__ import annotations


def no_models() -> str:
    return "the manifests name no model"


def no_models_hint() -> str:
    return "write one under `test_suite_config.models`; test_manifests/models has examples"


def unknown_model(name: str) -> str:
    return f"the manifests name no model {name}"


def recording(name: str) -> str:
    return f"{name}: making and calling it"


def not_run(name: str, why: str) -> str:
    return f"the model {name} did not run on the CPU: {why or 'it took too long, or ended without a word'}"


def not_run_hint() -> str:
    return "correct its entry, or install what it needs: `pip install 'oot-relay[models]'`"


def not_edited(manifest: str, why: str) -> str:
    return f"{manifest}: {why}"


def not_edited_hint() -> str:
    return "run it with --json, and write what it found under `uses` by hand"


def recorded(name: str, operators: int, names: int) -> str:
    return f"{name}: {_counted(operators, 'operator')}, {_counted(names, 'name')}"


def outcome(changed: int, *, written: bool) -> str:
    if not changed:
        return "the manifests say so already"
    return f"{_counted(changed, 'manifest')} {'written' if written else 'would change; --write changes them'}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
