"""A standalone cluster of Spark for tests: a master, and workers of one core each, as processes of this machine.

All of them are on loopback. A driver that binds to `DRIVER`, which is no address that anybody takes by default, shows
that executors find it where it says that it is.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tests.broker import free_port

DRIVER = "127.0.0.2"
"""An address of this machine that is not 127.0.0.1."""
_MEMORY = "700m"


@dataclass
class Cluster:
    """A master and its workers, each in a process group of its own with its executors."""

    folder: Path
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def conf(self) -> Mapping[str, str]:
        """Settings by which a driver of this machine finds executors, and they find it."""
        return {
            "spark.driver.host": DRIVER, "spark.driver.bindAddress": DRIVER, "spark.executor.memory": _MEMORY,
            "spark.executor.cores": "1", "spark.driver.memory": "2g",
        }  # fmt: skip

    def start(self, workers: int) -> None:
        """Start the master and its workers."""
        self._run("master", "master.Master", "--host", "127.0.0.1", "--port", self.port, "--webui-port", free_port())
        for number in range(workers):
            self.add(f"worker-{number}")

    def add(self, name: str) -> None:
        """Start a worker of one core."""
        folder = self.folder / name
        where = ("--host", "127.0.0.1", "--webui-port", free_port(), "--work-dir", folder)
        self._run(name, "worker.Worker", *where, "--cores", 1, "--memory", "1g", self.master)

    def kill(self, name: str) -> None:
        """Kill a process with its executors, as a machine dies."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):  # it has died before
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for name in [*self.processes]:
            self.kill(name)

    def _run(self, name: str, which: str, *arguments: object) -> None:
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{which}", *map(str, arguments)],
                env=environment, start_new_session=True, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster for a while."""
    made = Cluster(folder)
    try:
        made.start(workers)
        yield made
    finally:
        made.stop()
