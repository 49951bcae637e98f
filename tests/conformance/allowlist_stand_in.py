"""An allowlist that a test sets as text, read by the real grammar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from relay.allowlist.grammar import parse_allowlist
from relay.parts import AllowlistUnavailableError, LoadedAllowlist

#: The list that the rows assume unless they say otherwise.
FIXTURE = """\
L1:
  - a/l1
L2:
  - a/l2
L3:
  npu:
    a/l3: [x]
L4:
  - a/l4: y, z
"""


@dataclass
class AllowlistStandIn:
    """`text` None: no list was ever good. `problem` stands for a newer one that is not."""

    now: Callable[[], datetime]
    text: str | None = FIXTURE
    problem: str = ""
    path: str = ".github/allowlist.yml"
    reads: int = field(default=0)
    refreshes: int = field(default=0)

    def current(self) -> LoadedAllowlist:
        self.reads += 1
        if self.text is None:
            raise AllowlistUnavailableError("The allowlist was never read. Is RELAY_ALLOWLIST_URL right?")
        return LoadedAllowlist(parse_allowlist(self.text), self.now(), self.problem)

    def refresh(self) -> LoadedAllowlist:
        self.refreshes += 1
        return self.current()

    def names_path(self, paths: Sequence[str], repo: str, ref: str) -> bool:
        return repo == "pytorch/pytorch" and ref == "refs/heads/main" and self.path in paths
