"""`python -m tests.faults [--seed N] [--only NAME] [--changes N] [--rate N] [--away S] [--json FILE]`: every fault
alone, then all in a mix.

Exit code 1 when an invariant was violated; the rows are printed, and where the logs are.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from tests.faults.faults import AWAY_S, FAULTS
from tests.faults.story import Plan, Told, alone, mixed, tell
from tests.faults.table import document, story, table

MIX = "mix"
#: A change costs half a second of processor time for each of its shards, so a fault alone gets fewer.
CHANGES, CHANGES_ALONE = 200, 24
#: Changes that arrive in a second; slower alone, so that work is under way for longer than what lasts.
_RATE, _RATE_ALONE = 2.5, 1.2


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
    return [_plan(name, asked) for name in ([asked.only] if asked.only else [*FAULTS, MIX])]


def _plan(name: str, asked: argparse.Namespace) -> Plan:
    if name == MIX:
        changes = asked.changes or CHANGES
        plan = mixed(changes, changes / (asked.rate or _RATE), asked.seed)
    else:
        changes = asked.changes or CHANGES_ALONE
        plan = alone(name, changes, changes / (asked.rate or _RATE_ALONE), asked.seed)
    return replace(plan, away_s=asked.away)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="moments, order and targets of the faults, and the changes")
    parser.add_argument("--only", choices=(*FAULTS, MIX), help="this one alone")
    parser.add_argument("--changes", type=int, help=f"instead of {CHANGES_ALONE} for a fault and {CHANGES} for the mix")
    parser.add_argument("--rate", type=float, help=f"changes in a second, instead of {_RATE_ALONE} and {_RATE}")
    parser.add_argument(
        "--away",
        type=float,
        default=AWAY_S,
        help=f"for how long a worker cannot reach the relay; {AWAY_S:g} s, 3 leases",
    )
    parser.add_argument("--json", type=Path, help="also write the table there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
