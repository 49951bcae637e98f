"""`python -m workers.upstream.reach < ADDRESS`: whether git, as a worker runs it, can read what is at a clone URL.

Exit code 0, or 1 and git's words after `error: `. The address comes by standard input, for it may hold a login.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pydantic_settings import SettingsError

from relay.trail.known_secrets import in_address
from relay.trail.redaction import Redactor
from relay.trail.secret_file import named_file
from workers.upstream.checkout import Mirrors
from workers.upstream.git import GitError

_TIMEOUT_S = 15.0


def main() -> int:
    """Entry point of `python -m workers.upstream.reach`."""
    url = sys.stdin.read().strip()
    try:
        proxy = os.environ.get("RELAY_GIT_PROXY") or named_file("git_proxy") or ""
        with tempfile.TemporaryDirectory(prefix="relay-reach-") as folder:
            Mirrors(Path(folder), _TIMEOUT_S, proxy).open(url).look()
    except (GitError, SettingsError, ValueError) as error:
        print(f"error: {Redactor(in_address(url))(str(error))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
