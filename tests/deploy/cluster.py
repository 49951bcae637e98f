"""The manifests for Kubernetes as the tests read them: as written, and as an overlay gives them to a cluster."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from tests.deploy.deployed import DEPLOY

KUBERNETES = DEPLOY / "kubernetes"
OVERLAYS = sorted(path.parent.name for path in KUBERNETES.glob("overlays/*/kustomization.yaml"))
Manifest = dict[str, Any]


def manifests(text: str) -> list[Manifest]:
    return [found for found in yaml.safe_load_all(text) if found]


def written() -> Iterator[tuple[str, Manifest]]:
    """Every whole object in the folder, with where it is written."""
    for path in sorted(KUBERNETES.rglob("*.yaml")):
        for found in manifests(path.read_text()):
            if "kustomize.config.k8s.io" not in found.get("apiVersion", "") and "kind" in found:
                yield f"{path.relative_to(KUBERNETES)}:{found['kind']}:{found['metadata']['name']}", found


WRITTEN = dict(written())
PODS = {
    where: found["spec"]["template"]["spec"] for where, found in WRITTEN.items() if "template" in found.get("spec", {})
}


@cache
def rendered(overlay: str) -> tuple[Manifest, ...]:
    """What an overlay gives to the cluster. Skips where nothing can render it."""
    folder = str(KUBERNETES / "overlays" / overlay)
    for command in (["kubectl", "kustomize", folder], ["kustomize", "build", folder]):
        if shutil.which(command[0]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert done.stderr == "", "a deprecated field"
            return tuple(manifests(done.stdout))
    pytest.skip("neither kubectl nor kustomize is here: the files were validated, the overlays were not rendered")


def of_kind(found: tuple[Manifest, ...], kind: str) -> list[Manifest]:
    return [one for one in found if one["kind"] == kind]
