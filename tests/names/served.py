"""A Thrift server over a pipeline as `windrow serve` starts it, and JDBC as a BI tool speaks it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyspark

from tests.servers import free_port
from windrow.spec.times import micros_of

BEELINE = Path(pyspark.__file__).parent / "bin" / "beeline"
COMMAND = [sys.executable, "-c", "from windrow.cli import main; main()"]


@dataclass(frozen=True)
class Server:
    """Where it listens, and what it has said of its names."""

    port: int
    said: str

    @property
    def url(self) -> str:
        return f"jdbc:hive2://127.0.0.1:{self.port}/flights"


@contextmanager
def serving(file: Path, *options: str) -> Iterator[Server]:
    """A server in a process of its own, which is told to end."""
    port = free_port()
    environment = {**os.environ, "WINDROW_DRIVER_MEMORY": "1g"}
    command = [*COMMAND, "serve", str(file), "--port", str(port), *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        said = ""
        while "jdbc:hive2://" not in said:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        yield Server(port, said)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0


@dataclass(frozen=True)
class Jdbc:
    """A connection by Hive's JDBC driver, in the JVM of a session of Spark."""

    connection: Any

    @classmethod
    @contextmanager
    def to(cls, spark: Any, url: str) -> Iterator[Jdbc]:
        java = spark._jvm.java
        java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        connection = java.sql.DriverManager.getConnection(url, "analyst", "")
        try:
            yield cls(connection)
        finally:
            connection.close()

    def rows(self, sql: str) -> tuple[list[tuple[Any, ...]], list[str]]:
        """The rows of a query as `tests.names.questions.rows_of` has them, and the names of their columns."""
        statement = self.connection.createStatement()
        try:
            found = statement.executeQuery(sql)
            about = found.getMetaData()
            columns = range(1, about.getColumnCount() + 1)
            kinds = [str(about.getColumnTypeName(column)).lower() for column in columns]
            rows = []
            while found.next():
                rows.append(
                    tuple(_value(found.getString(column), kind) for column, kind in zip(columns, kinds, strict=True))
                )
            return rows, [str(about.getColumnLabel(column)) for column in columns]
        finally:
            statement.close()

    def run(self, sql: str) -> None:
        """A statement without rows."""
        statement = self.connection.createStatement()
        try:
            statement.execute(sql)
        finally:
            statement.close()


def _value(text: str | None, kind: str) -> Any:
    match kind:
        case _ if text is None:
            return None
        case "date":
            return date.fromisoformat(text)
        case "timestamp":
            return micros_of(datetime.fromisoformat(text).replace(tzinfo=UTC))
        case "double" | "float":
            return float(text)
        case "boolean":
            return text == "true"
        case _ if kind.startswith(("tinyint", "smallint", "int", "bigint", "decimal")):
            return int(text)
    return text
