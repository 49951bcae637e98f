"""What the past says about a change: which files changed together. Never reads what came after the change's base."""

from selector.history.cochange import CoChange
from selector.history.commits import Commit, read_commits
from selector.history.reading import read_history
from selector.history.store import CommitStore

__all__ = ["CoChange", "Commit", "CommitStore", "read_commits", "read_history"]
