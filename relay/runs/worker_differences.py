"""What differs between workers of one device that should be alike. Pure.

All shards of a run are tested in the environment that its selection was planned on: a worker that has none like it
cannot take part, and one of another version may find another plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.now_views import TraitValue, WorkerAbout, WorkerDifference, WorkerNow, WorkerState

_SHA_SHOWN = 12


def _joined(values: Sequence[str]) -> str:
    return ", ".join(sorted(set(filter(None, values)))) or "none"


def _torch(about: WorkerAbout) -> str:
    found = [(each.torch_version, each.torch_git_sha[:_SHA_SHOWN]) for each in about.environments]
    return _joined([f"{version} of {sha}" if sha else version for version, sha in found])


def _confined_by(about: WorkerAbout) -> str:
    """Without the reason, which tells of one machine."""
    return about.sandbox.partition(":")[0].strip() or "unknown"


_TRAITS: Mapping[str, Callable[[WorkerAbout], str]] = {
    "relay version": lambda about: about.version,
    "torch": _torch,
    "Python": lambda about: _joined([each.python_version for each in about.environments]),
    "device profile": lambda about: _joined([each.device_profile for each in about.environments]),
    "manifest profile": lambda about: about.manifest_profile or "unknown",
    "sandbox": _confined_by,
}


def differences(workers: Sequence[WorkerNow]) -> tuple[WorkerDifference, ...]:
    """Of the workers that are at work or wait and say what they are, by device and trait."""
    there = [worker for worker in workers if worker.state in {WorkerState.WORKING, WorkerState.IDLE}]
    found = []
    for device in sorted({worker.device for worker in there}):
        told = [(worker.name, worker.about) for worker in there if worker.device == device and worker.about]
        for trait, value_of in _TRAITS.items():
            values = _by_value([(name, value_of(about)) for name, about in told])
            if len(values) > 1:
                found.append(WorkerDifference(device=device, trait=trait, values=values))
    return tuple(found)


def _by_value(told: Sequence[tuple[str, str]]) -> tuple[TraitValue, ...]:
    names: dict[str, list[str]] = {}
    for name, value in told:
        names.setdefault(value, []).append(name)
    values = [TraitValue(value=value, workers=tuple(sorted(having))) for value, having in names.items()]
    return tuple(sorted(values, key=lambda each: (-len(each.workers), each.value)))
