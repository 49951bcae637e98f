"""Every sentence that the manifest commands say beside their findings, as functions named after the situation.

The sentences about a manifest's content are the selector's (`selector.manifests`). Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping


def no_manifest(path: str) -> str:
    return f"there is no file or folder {path}"


def no_manifest_in(path: str) -> str:
    return f"{path} holds no *.yaml file"


def no_manifest_hint() -> str:
    return "name manifest files or folders; without any, those of RELAY_MANIFEST_DIR are used"


def no_upstream(path: str) -> str:
    return f"there is no upstream tree {path}"


def no_upstream_hint() -> str:
    return "--upstream names a checkout of the upstream repository, --rev and --since commits of it"


def stale_summary(counts: Mapping[str, int]) -> str:
    """`2 dead name findings, 1 moved class finding`, or that nothing is stale."""
    if not counts:
        return "nothing is stale"
    return ", ".join(f"{count} {kind} finding{'' if count == 1 else 's'}" for kind, count in counts.items())
