"""`python -m workers.runner.sandbox`: which sandbox this machine gives (after `RELAY_SANDBOX`), as one JSON line.

Exit code 1 when one is required and something is missing, 2 for a mode that does not exist.
"""

from __future__ import annotations

import json
import os
import sys

from workers.runner.sandbox.find import SandboxMode, SandboxUnavailableError, choose_sandbox


def main() -> int:
    try:
        mode = SandboxMode(os.environ.get("RELAY_SANDBOX") or SandboxMode.AUTO)
    except ValueError:
        print(f"RELAY_SANDBOX: must be one of {', '.join(SandboxMode)}", file=sys.stderr)
        return 2
    try:
        sandbox = choose_sandbox(mode)
    except SandboxUnavailableError as error:
        print(json.dumps({"sandbox": "none", "problem": str(error)}))
        return 1
    print(json.dumps({"sandbox": sandbox.name, "problem": sandbox.problem}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
