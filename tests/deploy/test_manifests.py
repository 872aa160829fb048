"""The files in `deploy/` fit Kubernetes, each other, and the programs that they start."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from typer.testing import CliRunner

import whence.api.__main__
import whence.derive.__main__
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.cli.commands.app import app as command_line
from whence.store.connection.engine import sqlite_url

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
VARIANTS = ("one-pod", "executors")
ROOT = Path(__file__).parents[2]
OLDEST, NEWEST = "1.31", kubernetes_validate.latest_version()

Manifest = dict[str, Any]


def files_of(kustomization: Path) -> Iterator[Path]:
    """The manifests of a directory with a kustomization, and of those that it builds on."""
    for name in yaml.safe_load((kustomization / "kustomization.yaml").read_text())["resources"]:
        path = (kustomization / name).resolve()
        yield from files_of(path) if path.is_dir() else [path]


def manifests(variant: str) -> list[Manifest]:
    return [one for path in files_of(KUBERNETES / variant) for one in yaml.safe_load_all(path.read_text())]


def template_of(manifest: Manifest) -> Manifest | None:
    """The pod that a manifest makes, if it makes one."""
    match manifest["kind"]:
        case "Deployment":
            return dict(manifest["spec"]["template"])
        case "CronJob":
            return dict(manifest["spec"]["jobTemplate"]["spec"]["template"])
        case "ConfigMap" if "pod.yaml" in manifest["data"]:
            return dict(yaml.safe_load(manifest["data"]["pod.yaml"]))
    return None


def pods(variant: str) -> list[tuple[Manifest, Manifest]]:
    """Each manifest that makes a pod, and the pod."""
    return [(one, pod) for one in manifests(variant) if (pod := template_of(one))]


def named(variant: str, kind: str) -> set[str]:
    return {one["metadata"]["name"] for one in manifests(variant) if one["kind"] == kind}


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_manifest_is_what_kubernetes_takes(variant: str, version: str) -> None:
    for manifest in manifests(variant):
        kubernetes_validate.validate(manifest, version, strict=True)
        if manifest["kind"] == "ConfigMap" and (pod := template_of(manifest)):
            kubernetes_validate.validate(pod, version, strict=True)


def test_every_file_is_part_of_a_variant() -> None:
    listed = {path for variant in VARIANTS for path in files_of(KUBERNETES / variant)}
    assert {path for path in KUBERNETES.rglob("*.yaml") if path.name != "kustomization.yaml"} == listed


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_pod_is_bounded_and_unprivileged(variant: str) -> None:
    for manifest, pod in pods(variant):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        asks = manifest["metadata"]["name"] == "whence-pipeline" and variant == "executors"
        assert spec["automountServiceAccountToken"] is asks
        for container in spec["containers"]:
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
            assert "memory" in container["resources"]["limits"]
            secure = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
            assert container["securityContext"] == {**secure, "capabilities": {"drop": ["ALL"]}}
            assert "/tmp" in {one["mountPath"] for one in container["volumeMounts"]}
            assert container["image"] == f"whence:{newest_release()}"
            if manifest["kind"] == "Deployment":
                assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_reference_leads_somewhere(variant: str) -> None:
    for _, pod in pods(variant):
        spec = pod["spec"]
        assert spec.get("serviceAccountName", "whence-executor") in named(variant, "ServiceAccount") | {
            "whence-executor"
        }
        volumes = {one["name"]: one for one in spec["volumes"]}
        assert {one["configMap"]["name"] for one in volumes.values() if "configMap" in one} <= named(
            variant, "ConfigMap"
        )
        for container in spec["containers"]:
            sources = container.get("envFrom", [])
            assert {one["configMapRef"]["name"] for one in sources if "configMapRef" in one} <= named(
                variant, "ConfigMap"
            )
            assert {one["secretRef"]["name"] for one in sources if "secretRef" in one} <= named(variant, "Secret")
            assert {one["name"] for one in container["volumeMounts"]} == volumes.keys()
    for manifest in manifests(variant):
        if manifest["kind"] == "RoleBinding":
            assert manifest["roleRef"]["name"] in named(variant, "Role")
            assert {one["name"] for one in manifest["subjects"]} <= named(variant, "ServiceAccount")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_selector_selects_a_pod(variant: str) -> None:
    labels = [pod["metadata"]["labels"] for _, pod in pods(variant)]
    for manifest in manifests(variant):
        spec = manifest.get("spec", {})
        match manifest["kind"]:
            case "Service":
                wanted = spec["selector"]
            case "PodDisruptionBudget" | "Deployment":
                wanted = spec["selector"]["matchLabels"]
            case "NetworkPolicy":
                wanted = spec["podSelector"].get("matchLabels", {})
            case _:
                continue
        assert any(wanted.items() <= one.items() for one in labels), manifest["metadata"]["name"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_command_is_one_that_the_program_takes(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (secret,) = (one for one in manifests(variant) if one["kind"] == "Secret")
    (configuration,) = (one for one in manifests(variant) if one["metadata"]["name"] == "whence" and "data" in one)
    for name, value in (*secret["stringData"].items(), *configuration["data"].items()):
        monkeypatch.setenv(name, value)
    for manifest, pod in pods(variant):
        if manifest["kind"] != "ConfigMap":
            (container,) = pod["spec"]["containers"]
            assert takes(container["args"]), container["args"]


def takes(arguments: list[str]) -> bool:
    match arguments:
        case ["python", "-m", "whence.api", *rest]:
            return bool(whence.api.__main__.parser().parse_args(rest).store)
        case ["python", "-m", "whence.derive", *rest]:
            return bool(whence.derive.__main__.parser().parse_args(rest).log)
        case ["spark-submit", *rest]:
            entry = rest.index("/opt/whence/derive.py")
            settings = [one for one in rest[:entry] if not re.fullmatch(r"--(master|deploy-mode)=\S+", one)]
            assert all(re.fullmatch(r"--conf=spark\.[\w.]+=\S+", one) for one in settings)
            return bool(whence.derive.__main__.parser().parse_args(rest[entry + 1 :]).log)
        case ["whence", *rest]:
            return CliRunner().invoke(command_line, [*rest, "--help"]).exit_code == 0
    return False


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_probe_asks_what_the_api_answers(variant: str, tmp_path: Path) -> None:
    api = create_app(Settings(data=tmp_path, store_url=sqlite_url(tmp_path / "store.db"), open=True))
    for _, pod in pods(variant):
        for container in pod["spec"]["containers"]:
            ports = {one["name"] for one in container.get("ports", [])}
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if asked := container.get(probe, {}).get("httpGet"):
                    assert asked["path"].partition("?")[0] in api.openapi()["paths"]
                    assert asked["port"] in ports


def test_the_image_has_what_the_manifests_name() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (.+) (\S+)$", dockerfile, re.MULTILINE)
    for sources, _ in copied:
        assert all((DEPLOY.parent / one).exists() for one in sources.split())
    assert "COPY deploy/derive.py deploy/executor.sh /opt/whence/\n" in dockerfile
    assert "--uid 10001" in dockerfile
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert hadolint
    done = subprocess.run([hadolint, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_an_executor_gets_what_spark_says(tmp_path: Path) -> None:
    values = {
        "SPARK_DRIVER_URL": "spark://driver:7078",
        "SPARK_EXECUTOR_ID": "3",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_APPLICATION_ID": "spark-1",
        "SPARK_EXECUTOR_POD_IP": "10.0.0.7",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_EXECUTOR_POD_NAME": "whence-exec-3",
        "SPARK_EXECUTOR_MEMORY": "1g",
        "SPARK_HOME": "/spark",
        **{f"SPARK_JAVA_OPT_{number}": f"-Dnumber={number} {number}" for number in range(11)},
    }
    assert run(tmp_path, ["executor"], values) == [
        *(f"-Dnumber={number} {number}" for number in range(11)),
        *("-Xms1g", "-Xmx1g", "-cp", ":/spark/conf:/spark/jars/*"),
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", "spark://driver:7078", "--executor-id", "3", "--cores", "1", "--app-id", "spark-1"),
        *("--hostname", "10.0.0.7", "--resourceProfileId", "0", "--podName", "whence-exec-3"),
    ]
    assert run(tmp_path, ["java", "-version", "a b"], {}) == ["-version", "a b"]


def run(directory: Path, arguments: list[str], variables: Mapping[str, str]) -> list[str]:
    """What the image's entry script starts `java` with."""
    java = directory / "java"
    java.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    java.chmod(0o755)
    path = f"{directory}:{os.environ['PATH']}"
    done = subprocess.run(
        [DEPLOY / "executor.sh", *arguments],
        env={"PATH": path, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def newest_release() -> str:
    """The newest version of the changelog, whose images the manifests name; between releases a checkout has another."""
    found = re.search(r"^## (\d+\.\d+\.\d+)", (DEPLOY.parent / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert found
    return found[1]
