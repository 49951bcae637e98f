"""Stage 1: what a change touches, and what of it can matter to a test."""

from selector.change.analyse import analyse, analyse_trees
from selector.change.facts import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Reached, Status

__all__ = [
    "Category",
    "ChangeSet",
    "Effect",
    "Fact",
    "FactKind",
    "FileChange",
    "Reached",
    "Status",
    "analyse",
    "analyse_trees",
]
