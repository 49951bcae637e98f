"""Chance by seed: the same seed and name give the same story again."""

from __future__ import annotations

from random import Random


def lots(seed: int, name: str) -> Random:
    """The source of a story's chances, or of a part of it."""
    return Random(f"{seed}/{name}")  # noqa: S311  # to be repeated, not to be secret
