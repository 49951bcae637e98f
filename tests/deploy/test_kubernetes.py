"""The manifests for Kubernetes: each valid by its schema, rendered where kubectl is, and what they promise."""

from __future__ import annotations

import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from relay.runs.endings import MOST_RETURNS
from relay.settings import RelaySettings
from relay.web.probes import router
from tests.deploy.cluster import KUBERNETES, OVERLAYS, PODS, WRITTEN, of_kind, rendered
from tests.deploy.deployed import DEPLOY, check_command
from workers.settings import WorkerSettings

#: The oldest that has what is used here, and the newest there is.
VERSIONS = ("1.33", kubernetes_validate.latest_version())
#: Kinds that the cluster learns from others.
FOREIGN = {"ScaledObject"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("where", sorted(WRITTEN))
def test_every_file_is_valid(where: str, version: str) -> None:
    found = WRITTEN[where]
    if found["kind"] in FOREIGN:
        assert set(found) == {"apiVersion", "kind", "metadata", "spec"}
    else:
        kubernetes_validate.validate(found, version, strict=True)


def test_the_check_can_fail() -> None:
    wrong = {**WRITTEN["base/service/web.yaml:Deployment:relay-web"], "sepc": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_overlay_renders_to_valid_manifests(overlay: str) -> None:
    for found in rendered(overlay):
        if found["kind"] not in FOREIGN:
            kubernetes_validate.validate(found, VERSIONS[0], strict=True)
    names = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in rendered(overlay)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_names_every_image(overlay: str) -> None:
    """An image without a place would be looked for among everybody's."""
    for found in rendered(overlay):
        for container in found.get("spec", {}).get("template", {}).get("spec", {}).get("containers", []):
            assert re.fullmatch(r"[\w.-]+\.[a-z]+/[\w./-]+:[\w.-]+", container["image"])


def test_every_file_is_in_some_kustomization() -> None:
    reached = set()
    for path in KUBERNETES.rglob("kustomization.yaml"):
        found = yaml.safe_load(path.read_text())
        for name in [*found.get("resources", []), *found.get("configurations", []), *found.get("components", [])]:
            target = (path.parent / name).resolve()
            assert target.exists(), f"{path}: {name}"
            reached.add(target)
    assert {path for path in KUBERNETES.rglob("*.yaml") if path.name != "kustomization.yaml"} <= reached


@pytest.mark.parametrize("where", sorted(PODS))
def test_every_container_starts_a_real_command(where: str) -> None:
    for container in PODS[where]["containers"]:
        check_command(container["args"])


@pytest.mark.parametrize("where", sorted(PODS))
def test_no_pod_has_rights_or_grows_without_bound(where: str) -> None:
    pod = PODS[where]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"]["cpu"]


def test_only_the_worker_leaves_the_restricted_profile() -> None:
    loose = {
        where for where, pod in PODS.items() if pod["securityContext"]["seccompProfile"]["type"] != "RuntimeDefault"
    }
    assert loose == {"base/worker/worker.yaml:Deployment:relay-worker"}
    worker = PODS[loose.pop()]
    # An unmasked /proc is allowed to pods in a user namespace only.
    assert worker["containers"][0]["securityContext"]["procMount"] == "Unmasked"
    assert worker["hostUsers"] is False


def test_a_worker_gets_two_secrets_and_lives_apart() -> None:
    worker = WRITTEN["base/worker/worker.yaml:Deployment:relay-worker"]
    assert worker["metadata"]["namespace"] not in {
        found["metadata"].get("namespace") for where, found in WRITTEN.items() if where.startswith("base/service/")
    }
    (source,) = [
        volume["secret"]
        for volume in PODS["base/worker/worker.yaml:Deployment:relay-worker"]["volumes"]
        if "secret" in volume
    ]
    assert {item["key"] for item in source["items"]} == {"worker_token", "broker_url"}


def test_no_secret_is_written_down() -> None:
    assert not [where for where, found in WRITTEN.items() if found["kind"] == "Secret"]
    masked = {"RELAY_DATABASE_URL", "RELAY_BROKER_URL"} | {
        f"RELAY_{name.upper()}"
        for name, field in RelaySettings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }
    for found in WRITTEN.values():
        assert not masked & set(found.get("data", {}))


@pytest.mark.parametrize("where", [where for where, found in WRITTEN.items() if found["kind"] == "ConfigMap"])
def test_the_settings_are_accepted(where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in WRITTEN[where]["data"].items():
        monkeypatch.setenv(name, value)
    if "worker" in where:
        (tmp_path / "token").write_text("a token of a worker")
        monkeypatch.setenv("RELAY_WORKER_TOKEN_FILE", str(tmp_path / "token"))
        monkeypatch.setenv("RELAY_BROKER_URL", "redis://queue:6379/0")
        assert WorkerSettings().sandbox == "required"  # type: ignore[call-arg] # the environment gives the rest
    else:
        assert RelaySettings().upgrade_on_start is False


def test_probes_ask_what_is_there() -> None:
    known = {getattr(route, "path", "") for route in router.routes}
    (web,) = PODS["base/service/web.yaml:Deployment:relay-web"]["containers"]
    assert web["livenessProbe"]["httpGet"]["path"] == web["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert web["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert {"/healthz", "/readyz"} <= known


def test_schemas_are_brought_up_to_date_by_the_job_alone() -> None:
    settings = WRITTEN["base/service/settings.yaml:ConfigMap:oot-relay"]["data"]
    assert settings["RELAY_UPGRADE_ON_START"] == "false"
    assert WRITTEN["base/service/migrate.yaml:Job:relay-migrate"]["spec"]["template"]["spec"]["containers"][0][
        "args"
    ] == [
        "db",
        "upgrade",
    ]


@pytest.mark.parametrize("kind", ["Service", "PodDisruptionBudget", "NetworkPolicy"])
def test_what_selects_pods_finds_some(kind: str) -> None:
    labels = [
        found["spec"]["template"]["metadata"]["labels"]
        for found in WRITTEN.values()
        if "template" in found.get("spec", {})
    ]
    for where, found in WRITTEN.items():
        if found["kind"] == kind:
            spec = found["spec"]
            chosen = spec.get("podSelector", spec.get("selector", {}))
            wanted = chosen.get("matchLabels", chosen if kind == "Service" else {})
            assert any(wanted.items() <= one.items() for one in labels), where


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_workers_reach_the_relay_by_the_name_of_its_service(overlay: str) -> None:
    services = {
        f"http://{one['metadata']['name']}.{one['metadata']['namespace']}.svc"
        for one in of_kind(rendered(overlay), "Service")
    }
    settings = [one["data"] for one in of_kind(rendered(overlay), "ConfigMap") if "RELAY_URL" in one["data"]]
    assert settings
    assert {one["RELAY_URL"] for one in settings} <= services


def test_what_scales_workers_names_them_and_their_device() -> None:
    found = rendered("large")
    deployments = {one["metadata"]["name"]: one for one in of_kind(found, "Deployment")}
    settings = {one["metadata"]["name"]: one["data"] for one in of_kind(found, "ConfigMap")}
    for scaled in of_kind(found, "ScaledObject"):
        deployment = deployments[scaled["spec"]["scaleTargetRef"]["name"]]
        assert "replicas" not in deployment["spec"], "two would decide how many there are"
        (source,) = deployment["spec"]["template"]["spec"]["containers"][0]["envFrom"]
        device = settings[source["configMapRef"]["name"]]["RELAY_DEVICE"]
        (trigger,) = scaled["spec"]["triggers"]
        assert f'{{device="{device}"}}' in trigger["metadata"]["query"]
        assert (
            scaled["spec"]["minReplicaCount"]
            <= scaled["spec"]["fallback"]["replicas"]
            <= scaled["spec"]["maxReplicaCount"]
        )


def test_fewer_workers_come_slowly() -> None:
    """A worker that is taken away gives its shard back, which costs time and, after so often as is said, an attempt."""
    text = (DEPLOY / "kubernetes" / "components" / "scaling" / "scaled.yaml").read_text()
    assert f"(the first {MOST_RETURNS} times)" in text
    scaled = WRITTEN["components/scaling/scaled.yaml:ScaledObject:relay-worker"]
    down = scaled["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
    assert down["stabilizationWindowSeconds"] >= WorkerSettings.model_fields["file_timeout_s"].default
    assert down["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 300}]
