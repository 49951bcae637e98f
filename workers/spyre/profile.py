"""Profiles: which rules the emulated device keeps, as data files, and the fixed list of rules it may refuse by.

A profile says what a device lacks beyond being a device, each rule with its evidence, so that a refusal can name both.
Runs without torch: workers and reports read the list of rules where no torch is installed. Applying a profile to a
loaded device is `workers.spyre.host_work`'s and the library's business.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROFILE_VARIABLE = "SPYRE_PROFILE"
DEFAULT_PROFILE = "compat"

RULES: Mapping[str, str] = {
    "capacity": "a device's memory is full",
    "dtype-compute": "the operator does not work on this dtype",
    "dtype-storage": "tensors of this dtype cannot live on the device",
    "generator-offset": "generators of the device have no offset",
    "inductor": "compiled kernels would pass by the rules of the profile",
    "memory-format": "only the contiguous memory format exists",
    "nested-tensor": "nested tensors are not supported",
    "no-kernel": "the operator has no CPU kernel to run on the device",
    "operator-missing": "the device does not have this operator",
    "pointer-device": "the device of a bare pointer is not known",
    "quantized": "quantized tensors are not supported",
    "rank": "the tensor has too many dimensions",
    "scratchpad": "a core's part of the operands does not fit its scratchpad",
    "span": "a core would have to address too much of one tensor",
    "sparse-layout": "sparse layouts are not supported",
}
"""Every rule that a refusal (`DEVICE: unsupported: RULE: reason`) may name, with its meaning. Nothing else counts."""

_FOLDER = Path(__file__).parent / "profiles"
_DEPTH = 4  # profiles that extend each other


class ProfileError(Exception):
    """The profile cannot be used; the message is one sentence for people, with the known names."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile, with what it extends merged in. `tables` holds the file's tables by name."""

    name: str
    tables: Mapping[str, Mapping[str, Any]]

    def prints_on_host(self) -> bool:
        """True when printing a tensor is no work of the device."""
        return bool(self.tables.get("host_work", {}).get("printing", False))

    def compares_on_host(self) -> bool:
        """True when comparing tensors in a test is no work of the device."""
        return bool(self.tables.get("host_work", {}).get("comparing", False))

    def settings(self) -> list[str]:
        """The profile as `key=value` lines for the device library; lists give one line per entry."""
        return [f"name={self.name}", *self._rules(), *self._formats()]

    def _rules(self) -> Iterator[str]:
        for rule, table in self.tables.get("rules", {}).items():
            yield from _lines(rule, table)

    def _formats(self) -> Iterator[str]:
        for name, table in self.tables.get("formats", {}).items():
            yield from _lines(name, {key: value for key, value in table.items() if key != "evidence"})


def refusal_prefix(device: str = "spyre") -> str:
    """What a refusal by a rule begins with, on a device of that name."""
    return f"{device}: unsupported: "


def known_profiles() -> tuple[str, ...]:
    """Names of the profiles that come with the package, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def load_profile(chosen: str) -> Profile:
    """Load a profile by name, or by path when the text ends in `.toml`. Raises `ProfileError`."""
    tables = _merged(chosen or DEFAULT_PROFILE, _DEPTH)
    unknown = sorted(set(tables.get("rules", {})) - set(RULES))
    if unknown:
        raise ProfileError(f"the profile {chosen!r} has a rule that does not exist: {unknown[0]!r}")
    return Profile(str(tables.get("name", chosen)), tables)


def evidence(profile: Profile, rule: str) -> str:
    """Why a profile has a rule: a source file or issue number, or "" when the profile does not have the rule."""
    return str(profile.tables.get("rules", {}).get(rule, {}).get("evidence", ""))


def _merged(chosen: str, depth: int) -> dict[str, Any]:
    """Read a file and lay it over what it extends, table by table and key by key."""
    own = _read(chosen)
    below = own.pop("extends", None)
    if below is None:
        return own
    if depth == 0:
        raise ProfileError(f"profiles extend each other more than {_DEPTH} deep, last {chosen!r}")
    return _overlay(_merged(str(below), depth - 1), own)


def _overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _overlay(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return merged


def _read(chosen: str) -> dict[str, Any]:
    file = Path(chosen) if chosen.endswith(".toml") else _FOLDER / f"{chosen}.toml"
    if not chosen.endswith(".toml") and chosen not in known_profiles():
        raise ProfileError(
            f"{PROFILE_VARIABLE} is {chosen[:60]!r}, which is no profile; "
            f"choose {', '.join(known_profiles())} or give the path of a .toml file."
        )
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProfileError(
            f"the profile {chosen[:200]} cannot be read ({error}); known profiles are {', '.join(known_profiles())}."
        ) from error


def _lines(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, list):
            yield from (f"{name}.{key}={item}" for item in value)
        elif isinstance(value, bool):
            yield f"{name}.{key}={int(value)}"
        else:
            yield f"{name}.{key}={value}"
