"""A standalone cluster of Spark for tests: a master and workers, as processes of this machine.

All of them are on loopback. A driver that binds to `DRIVER`, which is no address that anybody takes by default, shows
that executors find it where it says that it is.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tests.servers import free_port

DRIVER = "127.0.0.2"
"""An address of this machine that is not 127.0.0.1."""
_MEMORY = "700m"


@dataclass
class Cluster:
    """A master and its workers of so many cores, each in a process group of its own with its executors."""

    folder: Path
    cores: int = 1
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
            "spark.executor.cores": str(self.cores), "spark.driver.memory": "2g",
        }  # fmt: skip

    def start(self, workers: int) -> None:
        """Start the master and its workers, each when there is something that it can find."""
        self._run("master", "master.Master", "--host", "127.0.0.1", "--port", self.port, "--webui-port", free_port())
        self._wait_for_master()
        for number in range(workers):
            self.add(f"worker-{number}")

    def add(self, name: str) -> None:
        """Start a worker."""
        folder = self.folder / name
        where = ("--host", "127.0.0.1", "--webui-port", free_port(), "--work-dir", folder)
        self._run(name, "worker.Worker", *where, "--cores", self.cores, "--memory", "1g", self.master)

    def kill(self, name: str) -> None:
        """Kill a process with its executors, as a machine dies."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):  # it has died before
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for name in [*self.processes]:
            self.kill(name)

    def _wait_for_master(self, seconds: float = 60) -> None:
        """A worker that finds no master tries again only after some ten seconds. Raises TimeoutError."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.1)
        raise TimeoutError((self.folder / "master.log").read_text()[-2000:])

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
def cluster(folder: Path, workers: int = 2, cores: int = 1) -> Iterator[Cluster]:
    """A cluster for a while."""
    made = Cluster(folder, cores)
    try:
        made.start(workers)
        yield made
    finally:
        made.stop()
