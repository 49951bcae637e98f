"""Stage 1: what a change touches, and what of it can matter to a test."""

from selector.change.analyse import analyse
from selector.change.facts import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Reached, Status

__all__ = ["Category", "ChangeSet", "Effect", "Fact", "FactKind", "FileChange", "Reached", "Status", "analyse"]
