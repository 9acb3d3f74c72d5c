"""The page on clusters: its lines of shell on a standalone cluster, as they stand; what `spark-submit` is refused."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from deltalake import DeltaTable

from demo.flights import write_landing_files
from tests.cluster import DRIVER, Cluster, cluster
from tests.spec.pages import PAGES, ROOT, blocks

pytestmark = [pytest.mark.crash, pytest.mark.long]  # it starts JVMs of its own

FILE = Path("conf/pipelines/flights.yaml")


def lines_of(heading: str) -> list[str]:
    """The blocks of shell under a heading of the page."""
    text = PAGES["clusters"].partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    return blocks(text, "sh")


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder like the repository: the environment, the jobs, the pipeline, and the flights of two days."""
    root = tmp_path / "project"
    shutil.copytree(ROOT / "conf", root / "conf")
    for name, target in (("jobs", ROOT / "jobs"), (".venv", Path(sys.prefix))):
        (root / name).symlink_to(target)
    for path in write_landing_files(root / "data" / "flights", hours_per_file=24)[2:]:
        path.unlink()
    return root


def shell(project: Path, workers: Cluster, text: str) -> subprocess.CompletedProcess[str]:
    """Lines of shell in a project, with the variables that the page leaves to the reader."""
    environment = {**surroundings(project), "MASTER": workers.master, "DRIVER": DRIVER}
    words = ["bash", "-eu", "-c", text]
    return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, timeout=600)


def surroundings(project: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{project / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "lib"), str(ROOT)]),
    }  # fmt: skip


def shown(project: Path) -> dict[tuple[object, ...], int]:
    """The flights of each complete window of the first stage, which it shows once."""
    table = DeltaTable(str(project / "lake" / "flights" / "departures_hourly" / "current"))
    rows = [row for row in table.to_pyarrow_table().to_pylist() if row["timing"] != "early"]
    found = {(row["origin"], row["carrier"], row["window_start"]): row["flights"] for row in rows}
    assert len(found) == len(rows)
    return found


def test_the_lines_of_the_page(workers: Cluster, project: Path) -> None:
    _, command, jobs = lines_of("Standalone")
    done = shell(project, workers, command)
    assert done.returncode == 0, done.stderr[-3000:]
    by_command = shown(project)
    assert by_command
    shutil.rmtree(project / "lake")
    done = shell(project, workers, jobs)
    assert done.returncode == 0, done.stderr[-3000:]
    assert shown(project).items() >= by_command.items()


def test_the_lines_that_start_a_master_and_a_worker(project: Path, tmp_path: Path) -> None:
    start, *_ = lines_of("Standalone")
    environment, log = {**surroundings(project), "HOST": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}, tmp_path / "log"
    words = ["bash", "-eu", "-c", start]
    with log.open("wb") as to:
        started = subprocess.Popen(words, cwd=project, env=environment, start_new_session=True, stdout=to, stderr=to)
    try:
        end = time.monotonic() + 90
        while "Successfully registered with master spark://127.0.0.1:7077" not in log.read_text():
            assert time.monotonic() < end and started.poll() is None, log.read_text()[-3000:]
            time.sleep(0.2)
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    assert "with 8 cores, 32.0 GiB RAM" in log.read_text()


def test_spark_submit_with_a_setting_that_makes_results_wrong(workers: Cluster, project: Path) -> None:
    submit = "spark-submit --master $MASTER --conf spark.sql.ansi.enabled=true jobs/stream.py"
    done = shell(project, workers, f"{submit} {FILE} --once")
    assert done.returncode == 2
    rule = "spark.sql.ansi.enabled must be false: one row that cannot be computed would stop a tick"
    assert (
        f'windrow: spark-submit --conf: {rule}; got "true"' in done.stdout
    )  # where spark-submit has what a job prints
    assert not (project / "lake").exists()


def test_the_defaults_of_a_cluster_are_overruled_where_results_depend_on_them(
    workers: Cluster, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "spark").mkdir()
    settings = {"spark.sql.ansi.enabled": "true", "spark.master": workers.master, **workers.conf}
    lines = [f"{name} {value}" for name, value in settings.items()]
    (tmp_path / "spark" / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    pipeline = yaml.safe_load((project / FILE).read_text())
    pipeline["stages"] = pipeline["stages"][:1]
    (project / FILE).write_text(yaml.safe_dump(pipeline))
    done = shell(project, workers, f"SPARK_CONF_DIR={tmp_path}/spark windrow run {FILE} --once")
    assert done.returncode == 0, done.stderr[-3000:]
    assert shown(project) and any((workers.folder / "worker-0").glob("app-*"))
