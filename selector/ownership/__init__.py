"""Stage 2: which tests belong to a change, and why. `link_tests` applies every rule to every changed file."""

from selector.ownership.stage import Ownership, link_tests

__all__ = ["Ownership", "link_tests"]
