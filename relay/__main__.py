"""`python -m relay`: the same as the `relay` command."""

from __future__ import annotations

from relay.cli import main

if __name__ == "__main__":
    main()
