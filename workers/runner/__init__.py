"""Runs upstream PyTorch test files in child processes: crash-safe, bounded in time, one outcome per test.

Half of the modules run on the worker's side (`runner`, `watch`, `process`, `ledger`), half inside the children
(`child`, `confinement`, `channel`, `generation`, `reporting`); `events` and `order` are what they say to each other.
"""

from workers.runner.runner import Runner
from workers.runner.types import Collection, RunnerLimits, RunnerTree, TestOutcome

__all__ = ["Collection", "Runner", "RunnerLimits", "RunnerTree", "TestOutcome"]
