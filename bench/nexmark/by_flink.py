"""The queries in Flink SQL, run by a process in an environment of its own, because Flink pins other packages.

Flink's file source takes files in no order, and keeps a watermark by reader. So it reads the same lines joined into one
file a reader. The end of the files is the end of event time, as in windrow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.nexmark.events import COLUMNS, DELAY, PARTS, Data
from bench.nexmark.queries import QUERIES, Query

VERSION = "2.2.1"
FEW_EVENTS = 2_000_000
"""Of fewer events than this there is one file: one reader might take two short ones, one after the other."""

_TEN = "TUMBLE(TABLE {kind}, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_BIDS = _TEN.format(kind="bids")
_GROUPED = "SELECT window_start, window_end, bidder, COUNT(*) AS num FROM TABLE({windows})"
_SESSIONS = "SESSION(TABLE bids PARTITION BY bidder, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_BY_BIDDER = f"{_GROUPED} GROUP BY window_start, window_end, bidder"

SQL: Mapping[str, str] = {
    "q5": """
        SELECT window_start, window_end, num, auction FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY num DESC, auction DESC) AS nth
            FROM (
                SELECT window_start, window_end, auction, COUNT(*) AS num
                FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
                GROUP BY window_start, window_end, auction
            )
        ) WHERE nth <= 1
        """,
    "q7": f"""
        SELECT window_start, window_end, price, auction, bidder, ms FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end
                ORDER BY price DESC, auction DESC, bidder DESC, ms DESC) AS nth
            FROM TABLE({_BIDS})
        ) WHERE nth <= 1
        """,
    "q8": f"""
        SELECT p.window_start, p.window_end, p.id, p.name FROM (
            SELECT window_start, window_end, id, name FROM TABLE({_TEN.format(kind="persons")})
            GROUP BY window_start, window_end, id, name
        ) p JOIN (
            SELECT window_start, window_end, seller FROM TABLE({_TEN.format(kind="auctions")})
            GROUP BY window_start, window_end, seller
        ) a ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end
        """,
    "q11": _BY_BIDDER.format(windows=_SESSIONS),
    "q12": _BY_BIDDER.format(windows=_BIDS),
}


@dataclass(frozen=True)
class Mode:
    """Where Flink keeps its state and where its results go."""

    name: str
    settings: Mapping[str, str]
    has_files: bool


MODES = (
    Mode(
        "Flink: RocksDB, exactly-once files",
        {"state.backend.type": "rocksdb", "execution.checkpointing.interval": "5s"},
        has_files=True,
    ),
    Mode("Flink: in memory, to blackhole", {"state.backend.type": "hashmap"}, has_files=False),
)
"""What Flink promises with windrow's durability, and the least that it can do."""

_SETTINGS = {
    "parallelism.default": str(os.cpu_count() or 2),
    "table.local-time-zone": "UTC",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2s",
    "table.exec.mini-batch.size": "50000",
    "taskmanager.memory.managed.size": "1g",
    "execution.checkpointing.mode": "EXACTLY_ONCE",
}


class FlinkUnavailable(Exception):
    """Flink cannot be had here; the text says why."""


class FlinkFailed(Exception):
    """A job ended with an error."""


def installed(out: Path) -> Path:
    """The Python of an environment with Flink, made once under `out`. Errors: FlinkUnavailable."""
    folder = out.resolve() / f"flink-{VERSION}"
    done = folder / "installed"
    python = folder / "bin" / "python"
    if done.exists():
        return python
    print("an environment with Flink is made once, in some minutes", file=sys.stderr)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", f"apache-flink=={VERSION}"],
    ):
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode:
            last = (ended.stderr.strip() or ended.stdout.strip()).splitlines()[-1:]
            raise FlinkUnavailable(f"apache-flink {VERSION} cannot be installed: {' '.join(last)}")
    done.touch()
    return python


class Flink:
    """A process of Flink that runs job after job. Errors: FlinkUnavailable."""

    def __init__(self, out: Path) -> None:
        self._process = subprocess.Popen(
            [str(installed(out)), str(Path(__file__).with_name("flink_job.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=out,
            env={
                **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")},
                "JVM_ARGS": f"-Xmx{os.environ.get('WINDROW_DRIVER_MEMORY', '4g')}",  # as the JVM of Spark has
            },
        )  # fmt: skip
        try:
            self.version: str = self._answer()["version"]
        except FlinkFailed as error:
            raise FlinkUnavailable(f"Flink does not start: {error}") from None

    def run(self, query: Query, data: Data, folder: Path, mode: Mode) -> float:
        """The seconds of a query, whose results are in `folder` if the mode has files. Errors: FlinkFailed."""
        places = {
            "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
            "state.backend.rocksdb.localdir": str(folder / "rocksdb"),
        }
        job = {
            "settings": {**_SETTINGS, **mode.settings, **places},
            "tables": [
                *(_source(data, kind) for kind in query.reads),
                _sink(query, folder if mode.has_files else None),
            ],
            "insert": f"INSERT INTO found {SQL[query.name]}",
        }
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise FlinkFailed(f"the process has ended: {error}") from None
        return float(self._answer()["seconds"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _answer(self) -> dict[str, Any]:
        """The next answer; Java writes other lines between them."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("answer "):
                answer: dict[str, Any] = json.loads(line.removeprefix("answer "))
                if "error" in answer:
                    raise FlinkFailed(answer["error"])
                return answer
        raise FlinkFailed("the process has ended")


def join_files(data: Data) -> None:
    """The same lines in one file a reader."""
    data.join(1 if data.events < FEW_EVENTS else PARTS)


def _source(data: Data, kind: str) -> str:
    columns = ", ".join(f"`{name}` {type}" for name, type in COLUMNS[kind].items())
    return f"""CREATE TEMPORARY TABLE {kind} (
        {columns}, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '{DELAY}' SECOND
    ) WITH ('connector' = 'filesystem', 'path' = '{data.joined(kind).as_uri()}', 'format' = 'csv')"""


def _sink(query: Query, folder: Path | None) -> str:
    columns = ", ".join(
        f"`{name}` {'TIMESTAMP(3)' if name.startswith('window_') else type}" for name, type in query.columns.items()
    )
    to = "'connector' = 'blackhole'"
    if folder is not None:
        to = f"'connector' = 'filesystem', 'path' = '{(folder / 'result').as_uri()}', 'format' = 'csv'"
    return f"CREATE TEMPORARY TABLE found ({columns}) WITH ({to})"


assert SQL.keys() == QUERIES.keys()
