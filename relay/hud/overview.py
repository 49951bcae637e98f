"""The lists of the first page: every registered backend with its figures, by level (5.1).

Pure: made of the allowlist and of the rows that `crcr_summary` or `crcr_nightly_summary` answers. A backend that is
registered and never reported is shown, for that is what its owner must see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relay.allowlist.types import Backend, Level, Participation, repo_key
from relay.hud.counting import is_probe

Row = Mapping[str, Any]

#: Where a backend stands that reports, is not listed, and does not tell its level.
_UNLISTED = Level.L2


@dataclass(frozen=True, slots=True)
class BackendLine:
    """One backend. `figures` is its summary row, None while it reported nothing: there is no page to open then."""

    repo: str
    level: Level
    listed: bool
    figures: Row | None


def backend_lines(
    backends: Sequence[Backend], rows: Sequence[Row], event: Participation
) -> dict[Level, tuple[BackendLine, ...]]:
    """The lines of a tab, L4 first, within a level the worst pass rate first and those without figures last."""
    figures = {repo_key(row["repo"]): row for row in rows}
    listed = {backend.key: backend for backend in backends}
    shown = [backend for backend in backends if backend.takes_part_in(event) or backend.key in figures]
    lines = [BackendLine(backend.repo, backend.level, True, figures.get(backend.key)) for backend in shown]
    lines += [BackendLine(row["repo"], _level(row), False, row) for key, row in figures.items() if key not in listed]
    visible = [line for line in lines if not is_probe(repo_key(line.repo))]
    return {level: _ordered([line for line in visible if line.level is level]) for level in sorted(Level, reverse=True)}


def _level(row: Row) -> Level:
    told = row["downstream_repo_level"]
    return Level[told] if told in Level.__members__ else _UNLISTED


def _ordered(lines: Sequence[BackendLine]) -> tuple[BackendLine, ...]:
    return tuple(sorted(lines, key=_place))


def _place(line: BackendLine) -> tuple[bool, float, str]:
    rate = line.figures["pass_rate"] if line.figures else 0.0
    return (line.figures is None, rate, repo_key(line.repo))
