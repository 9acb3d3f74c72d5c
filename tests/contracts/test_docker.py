"""What is in docker/, as far as it can be checked without an engine: the image's own linter, the schemas of Compose and
Kubernetes, and set-up in a folder with nothing but what the build stage has.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pathspec import PathSpec

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
BIN = Path(sys.executable).parent
Instruction = tuple[str, list[str]]


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile, each with its words."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, rest = line.partition(" ")
        yield name, rest.split()


def stages() -> list[list[Instruction]]:
    """The stages of the image."""
    found: list[list[Instruction]] = []
    for one in instructions((DOCKER / "Dockerfile").read_text()):
        if one[0] == "FROM":
            found.append([])
        if found:
            found[-1].append(one)
    return found


def copied(words: list[str]) -> list[str]:
    """What a COPY takes from the context; nothing where it takes it from another stage."""
    return [] if words[0].startswith("--from=") else words[:-1]


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).exists()]


def is_in(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}/")


def test_the_context_has_what_the_image_copies_and_nothing_else() -> None:
    sources = {source for stage in stages() for name, words in stage if name == "COPY" for source in copied(words)}
    ignored = PathSpec.from_lines("gitignore", (DOCKER / "Dockerfile.dockerignore").read_text().splitlines())
    sent = [name for name in tracked() if not ignored.match_file(name)]
    assert sources
    for source in sources:
        files = [name for name in tracked() if is_in(name, source)]
        assert files and set(files) <= set(sent), source
    assert [name for name in sent if not any(is_in(name, source) for source in sources)] == []


def test_the_image_is_clean_and_runs_as_nobody_special() -> None:
    linted = subprocess.run([BIN / "hadolint", DOCKER / "Dockerfile"], capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, "")
    users = [words for name, words in stages()[-1] if name == "USER"]
    assert users == [["1000"]]


def test_the_services_are_compose_s_and_are_bounded() -> None:
    checked = subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DOCKER / "compose.yaml"],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    for name, service in services.items():
        assert service["mem_limit"] and service["cap_drop"] == ["ALL"], name
        assert service.get("healthcheck", {}).get("test") or name == "demo", name
        assert service.get("user", "1000") not in ("root", "0", 0), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name


def test_the_services_start_what_there_is() -> None:
    """Each entry point and each first word is a program of `.venv`, or of the system."""
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    ours = {name: one for name, one in services.items() if one["image"].startswith("windrow:")}
    for name, service in ours.items():
        (first, *_) = service.get("entrypoint") or ["windrow"]
        assert (BIN / first).exists() or shutil.which(first), name
    runs = [shlex.split(line) for line in services["airflow"]["command"][0].splitlines()]
    assert all((BIN / words[words[0] == "exec"]).exists() for words in runs), runs


def test_the_dags_find_the_connections_of_their_pipeline_files() -> None:
    environment = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]["airflow"]["environment"]
    files = [yaml.safe_load(file.read_text()) for file in (ROOT / "conf/pipelines").glob("*.yaml")]
    named = {
        one["schedule"]["spark"]["connection"]
        for one in files
        if "connection" in one.get("schedule", {}).get("spark", {})
    }
    assert named
    for name in named:
        assert json.loads(environment[f"AIRFLOW_CONN_{name.upper()}"])["conn_type"] == "spark"


def test_one_stream_writes_a_lake_whichever_services_start() -> None:
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    streams = [one for one in services.values() if (one.get("command") or [""])[0] == "run"]
    assert len(streams) == 2 and all(one["profiles"] for one in streams), "none starts by itself"
    profiles = [profile for one in streams for profile in one["profiles"]]
    assert len(profiles) == len({*profiles})


def test_a_worker_may_write_its_folder() -> None:
    command = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]["spark-worker"]["command"]
    assert command[command.index("--work-dir") + 1].startswith("/tmp/")


@pytest.mark.parametrize("file", sorted((DOCKER / "kubernetes").glob("*.yaml")), ids=lambda file: file.name)
def test_the_objects_are_kubernetes_own(file: Path) -> None:
    checked = subprocess.run([BIN / "kubernetes-validate", "--strict", file], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    pods = [one["spec"]["template"]["spec"] for one in yaml.safe_load_all(file.read_text()) if _has_pod(one)]
    assert pods
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert all(container["resources"]["limits"]["memory"] for container in pod["containers"])
    deployed = [one for one in yaml.safe_load_all(file.read_text()) if one["kind"] == "Deployment"]
    for pod in (one["spec"]["template"]["spec"] for one in deployed):
        assert all(container["readinessProbe"]["exec"]["command"] for container in pod["containers"])


def test_executors_write_the_lake_as_the_driver_does(tmp_path: Path) -> None:
    objects = [*yaml.safe_load_all((DOCKER / "kubernetes" / "backfill.yaml").read_text())]
    (driver,) = (one["spec"]["template"]["spec"] for one in objects if one["kind"] == "Job")
    (text,) = (one["data"]["pod.yaml"] for one in objects if one["kind"] == "ConfigMap")
    (tmp_path / "pod.yaml").write_text(text)
    checked = subprocess.run([BIN / "kubernetes-validate", "--strict", tmp_path / "pod.yaml"], capture_output=True)
    assert checked.returncode == 0, checked.stdout.decode()
    executor = yaml.safe_load(text)["spec"]
    assert executor["securityContext"] == driver["securityContext"]
    mounted = _mounted(driver)
    assert _mounted(executor).items() <= mounted.items() and "/project/lake" in _mounted(executor)
    (args,) = driver["containers"][0]["args"]
    (template,) = (word for word in args.split() if "podTemplateFile=" in word)
    path, name = template.partition("=")[2].rsplit("/", 1)
    assert mounted[path] == {"configMap": {"name": "windrow-executor"}} and name == "pod.yaml"


def _mounted(pod: dict[str, Any]) -> dict[str, Any]:
    """By path what is mounted there."""
    volumes = {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in pod["volumes"]}
    return {one["mountPath"]: volumes[one["name"]] for one in pod["containers"][0]["volumeMounts"]}


def test_what_pods_mount_is_made_or_told_of() -> None:
    """Claims and maps are objects of the two files, or a line above them says how to make them."""
    texts = [file.read_text() for file in sorted((DOCKER / "kubernetes").glob("*.yaml"))]
    objects = [one for text in texts for one in yaml.safe_load_all(text)]
    made = {(one["kind"], one["metadata"]["name"]) for one in objects}
    told = {line.split()[4] for text in texts for line in text.splitlines() if "kubectl create configmap" in line}
    for pod in (one["spec"]["template"]["spec"] for one in objects if _has_pod(one)):
        for source in _mounted(pod).values():
            claim, name = source.get("persistentVolumeClaim"), source.get("configMap", {}).get("name")
            is_made = ("PersistentVolumeClaim", claim["claimName"]) in made if claim else ("ConfigMap", name) in made
            assert is_made or name in told, source


def _has_pod(one: Any) -> bool:
    return one["kind"] in ("Deployment", "Job")


def test_no_file_holds_a_secret() -> None:
    for file in (file for file in DOCKER.rglob("*") if file.is_file()):
        words = file.read_text().lower()
        told = ("password", "passwd", "secret_key", "access_key", "api_key", "-----begin")
        assert not any(word in words for word in told), file


@pytest.mark.long
def test_set_up_succeeds_with_what_the_build_stage_has(tmp_path: Path) -> None:
    """Its instructions in an empty folder; then the files of the last stage alone, with the same `.venv`."""
    (build,) = (stage for stage in stages() if stage[0][1][-2:] == ["AS", "build"])
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for name, words in build:
        if name == "COPY":
            _copy(copied(words), words[-1], tmp_path)
        if name == "RUN" and words[0] == "python":
            python = getattr(sys, "_base_executable", sys.executable)
            subprocess.run([python, *words[1:]], cwd=tmp_path, env=env, check=True)
    for left in tmp_path.iterdir():
        if left.name != ".venv":
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    for name, words in stages()[-1]:
        if name == "COPY":
            _copy(copied(words), words[-1], tmp_path)
    planned = subprocess.run(
        [tmp_path / ".venv/bin/windrow", "plan", "conf/pipelines/flights.yaml"],
        cwd=tmp_path, env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert planned.returncode == 0 and "departures_hourly" in planned.stdout, planned.stderr
    assert (tmp_path / ".venv/windrow-jars/classes.jsa").exists()


def _copy(sources: list[str], target: str, folder: Path) -> None:
    for source in sources:
        place = folder / target / Path(source).name if target.endswith("/") else folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / source, place)
