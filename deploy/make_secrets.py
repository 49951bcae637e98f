"""Make the secrets of a new installation, one file each; what is there is kept. Standard library.

    python3 deploy/make_secrets.py FOLDER [--database HOST[:PORT]/NAME] [--broker HOST[:PORT]]

The folder opens for its owner only. The files in it are readable, for containers get them under another user.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Mapping
from pathlib import Path

#: What nobody but the relay and its callers has to know; 32 random bytes each.
RANDOM = ("postgres_password", "redis_password", "webhook_secret", "worker_token", "operator_token")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the secrets of a new installation; what is there is kept.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database", default="postgres:5432/relay", metavar="HOST[:PORT]/NAME")
    parser.add_argument("--broker", default="redis:6379", metavar="HOST[:PORT]")
    given = parser.parse_args()
    folder: Path = given.folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    known = {name: kept(folder / name, secrets.token_urlsafe(32)) for name in RANDOM}
    for name, text in derived(known, given.database, given.broker).items():
        kept(folder / name, text)
    print(f"{folder}: {', '.join(sorted(file.name for file in folder.iterdir()))}")


def derived(known: Mapping[str, str], database: str, broker: str) -> dict[str, str]:
    """What is made of the passwords: the addresses that hold them, and the queue's own configuration."""
    return {
        "database_url": f"postgresql://relay:{known['postgres_password']}@{database}",
        "broker_url": f"redis://:{known['redis_password']}@{broker}/0",
        "redis_config": f'requirepass {known["redis_password"]}\nsave ""\nappendonly no\n'
        "maxmemory 256mb\nmaxmemory-policy noeviction\n",
    }


def kept(file: Path, text: str) -> str:
    """The file's text; `text` is written when there is no file."""
    if not file.exists():
        file.write_text(text if text.endswith("\n") else text + "\n")
        file.chmod(0o644)
    return file.read_text().strip()


if __name__ == "__main__":
    main()
