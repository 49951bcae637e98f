"""`python -m tests.faults [--seed N] [--only NAME] [--changes N] [--json FILE]`: every fault alone, then all in a mix.

Exit code 1 when an invariant was violated; the rows are printed, and where the logs are.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.faults.faults import FAULTS
from tests.faults.story import Plan, Told, alone, mixed, tell
from tests.faults.table import document, story, table

MIX = "mix"
#: A change costs half a second of processor time for each of its shards, so a fault alone gets fewer.
CHANGES, CHANGES_ALONE = 200, 30
#: Changes that arrive in a second.
_RATE = 2.5


def main() -> int:
    """Run the stories, print each as it ends, and the table in the end."""
    asked = _arguments()
    told: list[Told] = []
    for plan in _plans(asked):
        told.append(tell(plan))
        print(story(told[-1]), file=sys.stderr, flush=True)
    print(table(told))
    if asked.json:
        asked.json.write_text(json.dumps(document(told), indent=1), encoding="utf-8")
    return 0 if all(each.holds for each in told) else 1


def _plans(asked: argparse.Namespace) -> list[Plan]:
    chosen = [asked.only] if asked.only else [*FAULTS, MIX]
    plans = []
    for name in chosen:
        changes = asked.changes or (CHANGES if name == MIX else CHANGES_ALONE)
        make = mixed if name == MIX else None
        seconds = changes / _RATE
        plans.append(make(changes, seconds, asked.seed) if make else alone(name, changes, seconds, asked.seed))
    return plans


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="moments, order and targets of the faults, and the changes")
    parser.add_argument("--only", choices=(*FAULTS, MIX), help="this one alone")
    parser.add_argument("--changes", type=int, help=f"instead of {CHANGES_ALONE} for a fault and {CHANGES} for the mix")
    parser.add_argument("--json", type=Path, help="also write the table there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
