"""The machine's chromium: where it is, how it is started, and how long it is waited for."""

from __future__ import annotations

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox: in a container as root chromium starts only without it, and it opens our own pages alone.
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"]
NO_BROWSER = f"no browser is installed; one of {', '.join(BROWSERS)} on PATH is needed (apt-get install chromium)"
WAIT_MS = 60_000


def installed() -> str | None:
    """The program, None when the machine has none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
