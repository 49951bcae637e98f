"""The sentences about workers in `relay status` and `relay doctor`. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: State -> what it is called here, in the order in which it is told.
_WORDS = {"working": "at work", "idle": "idle", "unable": "cannot work", "silent": "silent"}
_NAMES_SHOWN = 3


def counted(states: Sequence[str]) -> str:
    """`3 workers: 1 at work, 2 idle`; of those that said goodbye nothing is said."""
    counts = [(states.count(state), word) for state, word in _WORDS.items()]
    told = ", ".join(f"{count} {word}" for count, word in counts if count)
    total = sum(count for count, _ in counts)
    return f"{total} {'worker' if total == 1 else 'workers'}: {told}" if total else "no worker is connected"


def difference(device: str, trait: str, values: Mapping[str, Sequence[str]]) -> str:
    """`workers of spyre are not alike in torch: 2.13.0 (w1, w2), 2.12.1 (w3)`."""
    told = [f"{value} ({_names(workers)})" for value, workers in values.items()]
    return f"workers of {device} are not alike in {trait}: {', '.join(told)}"


def other_version(names: Sequence[str], service: str) -> str:
    return f"of another version than the service's {service}: {_names(names)}"


def unable(name: str, trouble: str) -> str:
    """`w1 cannot work: The worker's work directory takes nothing more: No space left on device.`"""
    return f"{name} cannot work: {trouble}"


def unable_hint() -> str:
    return "mend that on the worker's machine; it goes on by itself"


def difference_hint() -> str:
    return "a run is tested in one environment: give all workers of a device the same relay, torch, Python and profiles"


def none_connected_hint() -> str:
    return "start one with `relay worker`, or the service with one by `relay up`"


def only_silent_hint() -> str:
    return "their machines or programs may be gone; `relay worker` starts one"


def not_asked() -> str:
    return "the service was not reached"


def too_old() -> str:
    return "the service is of a version that does not tell"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
