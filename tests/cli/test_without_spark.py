"""The base install: what reads files and tables works where Spark is not installed, and the rest says what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import windrow
from tests.cli.command import windrow as command
from tests.cli.test_wrong_input import refused, write
from windrow.spec.errors import SpecError

MISSING = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "delta", "pandas", "numpy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
"""An interpreter that begins with this has none of the packages of the extra `spark`."""

COMMANDS = """
import io, json
from contextlib import redirect_stderr, redirect_stdout
from windrow.cli import main

done = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
    done.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""

IN_PYTHON = """
import windrow, windrow.extend
from dataclasses import replace

made = windrow.load(sys.argv[1])
stage = windrow.Stage(keys=["k"], window=windrow.FixedWindows(size="1h"), aggregates={"n": windrow.Count()})
assert windrow.Pipeline.from_mapping(made.to_mapping()) == made and replace(made, stages=(stage,)).to_yaml()
assert "Stage sums" in windrow.plan(made)
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import outcome_of
assert outcome_of(Lake.of(made.lake), "monday", "first", "land") is None
assert len(made.table("sums").arrow()) == windrow.show(made, None, "sums").total == 3
assert windrow.status(made)[0][0].batches == 0 and "sums" in windrow.report(made)
for name in ("run", "backfill", "maintain", "panes", "local_session"):
    try:
        getattr(windrow, name)
    except ImportError as error:
        assert str(error) == f"windrow.{name} needs Spark. Hint: pip install 'windrow[spark]'", error
    else:
        raise AssertionError(name)
"""

EXTENSION = """
from dataclasses import dataclass
import windrow
from windrow.extend import DAY, CustomAggregate, CustomWindows, Part, PythonAggregate, sql, window

@windrow.register
@dataclass(frozen=True)
class Whole(CustomWindows):
    NAME = "whole_day"
    longest = DAY

    def assign(self, event_time, **arguments):
        return sql.array(window(sql.floor_to(event_time, DAY, 0), sql.floor_to(event_time, DAY, 0) + DAY))

@windrow.register
@dataclass(frozen=True)
class Span(CustomAggregate):
    NAME = "span_of_values"

@windrow.register
@dataclass(frozen=True)
class Median(PythonAggregate):
    NAME, RETURNS = "median_of_values", "double"
"""

CLIENT = """
import sys

class NoJvm:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("py4j", "delta"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoJvm())
import windrow
assert callable(windrow.panes)
try:
    windrow.run
except ImportError as error:
    assert str(error) == "windrow.run needs Spark. Hint: pip install 'windrow[spark]'", error
else:
    raise AssertionError("it needs a JVM")
"""
"""A client of Spark Connect, as `pip install pyspark-client` makes it: nothing in it speaks to a JVM."""

NEEDS_SPARK = [
    ("run", "--once"), ("backfill", "--from", "2024-01-01", "--to", "2024-01-02"), ("restate",), ("reconcile",),
    ("quarantine", "--file", "a.json"), ("forget", "--where", "k = 'a'"), ("maintain",),
]  # fmt: skip


def child(program: str, *arguments: str) -> str:
    call = [sys.executable, "-c", MISSING + program, *arguments]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


START = datetime(2024, 1, 1, tzinfo=UTC)
MICROS = pa.timestamp("us", tz="UTC")


def of_current(key: str | None, hour: int) -> dict[str, Any]:
    """A row of `current`: a window of an hour."""
    start = START + timedelta(hours=hour)
    return {
        "k": key, "window_start": start, "window_end": start + timedelta(hours=1), "num": hour,
        "total": 2, "middle": 0.5, "most": {"value": 7, "names": ["a", "b"]}, "twice": {"x": [{"n": 1}]},
        "timing": "on_time", "pane_index": 0, "on_time_index": 0, "is_last": True,
        "event_time": start, "watermark": None, "produced_at": start, "tick": 1,
    }  # fmt: skip


SCHEMA = pa.schema(
    {
        "k": pa.string(), "window_start": MICROS, "window_end": MICROS, "num": pa.int64(), "total": pa.int64(),
        "middle": pa.float64(), "most": pa.struct({"value": pa.int64(), "names": pa.list_(pa.string())}),
        "twice": pa.map_(pa.string(), pa.list_(pa.struct({"n": pa.int64()}))), "timing": pa.string(),
        "pane_index": pa.int32(), "on_time_index": pa.int32(), "is_last": pa.bool_(), "event_time": MICROS,
        "watermark": MICROS, "produced_at": MICROS, "tick": pa.int64(),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline file, and beside it a lake with a table of its stage as Spark would write it."""
    root = tmp_path_factory.mktemp("without-spark")
    rows = [of_current("b", 0), of_current(None, 1), of_current("a", 0)]
    for row in rows:  # one file for each
        write_deltalake(root / "lake/sums/current", pa.Table.from_pylist([row], SCHEMA), mode="append")
    return write(root)


def extended(root: Path) -> Path:
    """The file of a pipeline with windows and aggregates of a module beside it."""
    root.mkdir()
    (root / "whole.py").write_text(EXTENSION)
    aggregates = {"span": {"span_of_values": "v"}, "median": {"median_of_values": "v"}}
    left_out = dict.fromkeys(("derive", "trigger", "allowed_lateness"))
    path = write(root, window={"whole_day": {}}, aggregates=aggregates, **left_out)
    path.write_text(path.read_text() + "extensions: [whole]\n")
    return path


def test_commands(file: Path) -> None:
    path, own = str(file), str(extended(file.parent / "own"))
    good = [["--help"], ["run", "--help"], ["plan", path], ["plan", path, "--json"]]
    good += [["plan", own, "--project", str(Path(own).parent)]]
    good += [["show", path, "sums"], ["show", path, "sums", "--json", "--key", "null"]]
    good += [["show", path, "sums", "--master", "local"], ["status", path], ["status", path, "--json"]]
    good += [["report", path, "--output", str(file.parent / "page.html")]]
    good += [["watch", path, "--once"], ["watch", path, "--once", "--json"]]
    good += [["metrics", path], ["metrics", path, "--dashboard"], ["lineage", path]]
    wrong = [["show", path, "sums", "--panes"], ["explain", path, "sums", "--key", "a", "--at", "2024-01-01"]]
    far = [[*start, "--set", "lake=hdfs://nowhere/lake"] for start in (["status", path], ["show", path, "sums"])]
    needy = [[name, path, *more] for name, *more in NEEDS_SPARK]
    done = json.loads(child(COMMANDS, json.dumps([*good, *wrong, *far, *needy])))
    for arguments, (code, out, err) in zip([*good, *wrong, *far, *needy], done, strict=True):
        if arguments in good:
            assert code == 0 and out and not err, (arguments, err)
        elif arguments in wrong:
            assert code == 2 and "has not run in this lake" in err, (arguments, err)
        elif arguments in far:
            assert code == 2 and 'can be read without Spark; got "hdfs://nowhere/lake' in err, (arguments, err)
        else:
            said = "windrow: the command needs Spark. Hint: pip install 'windrow[spark]'\n"
            assert (code, out, err) == (2, "", said), arguments
    assert "sums/current: 3 rows" in done[good.index(["show", path, "sums"])][1]


def test_in_python(file: Path) -> None:
    child(IN_PYTHON, str(file))


def test_a_table_in_arrow(file: Path) -> None:
    import polars

    sums = windrow.load(file).table("sums")
    assert polars.from_arrow(sums.arrow(columns=["num"]))["num"].sum() == 1
    assert sums.arrow().schema.field("window_start").type == MICROS
    assert sums.dataset().count_rows() == 3
    with pytest.raises(SpecError, match=r"^sums/panes is not there: it has not run in this lake; got"):
        sums.arrow("panes")
    with pytest.raises(SpecError, match=r"^x/current cannot be read without Spark: .*hdfs"):
        windrow.Table("hdfs://nowhere/lake", "x").arrow()


def test_the_rows_that_are_shown(file: Path) -> None:
    made = windrow.load(file)
    first = int(START.timestamp()) * 1_000_000

    def shown(**options: Any) -> list[tuple[Any, ...]]:
        found = windrow.show(made, None, "sums", **options)
        return [row[:3] for row in found.rows]

    hour = 3_600_000_000
    everything = [("a", first, first + hour), ("b", first, first + hour), (None, first + hour, first + 2 * hour)]
    assert shown() == everything and shown(limit=2) == everything[1:]
    assert shown(keys={"k": "b"}) == everything[1:2] and shown(keys={"k": "null"}) == everything[2:]
    assert shown(at="2024-01-01T01:00:00Z") == everything[2:] and shown(at="2024-01-01T00:59:59Z") == everything[:2]
    assert shown(at="2024-01-02") == []
    found = windrow.show(made, None, "sums", limit=1)
    assert found.total == 3 and "the last 1 of 3 rows" in found.text(200)
    assert found.rows[0][6:8] == ((7, ["a", "b"]), {"x": [(1,)]})
    assert found.mappings()[0]["event_time"] == START + timedelta(hours=1)
    with pytest.raises(SpecError, match=r"^--key names what is not a key of sums; got .x.. Hint: the keys are k"):
        shown(keys={"x": "1"})


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (pa.int32(), 7, "7"), (pa.bool_(), True, "true"), (pa.date32(), START.date(), "2024-01-01"),
        (MICROS, START, "2024-01-01T00:00:00Z"), (pa.float64(), 1.0, "1.0"),
    ],
    ids=str,
)  # fmt: skip
def test_a_key_of_another_type(tmp_path: Path, kind: pa.DataType, value: Any, text: str) -> None:
    schema = SCHEMA.set(0, pa.field("k", kind))
    rows = [{**of_current(None, 0), "k": value}, of_current(None, 1)]
    write_deltalake(tmp_path / "lake/sums/current", pa.Table.from_pylist(rows, schema))
    made = windrow.load(write(tmp_path))
    assert [row[0] for row in windrow.show(made, None, "sums", keys={"k": text}).rows] == [value]
    assert not windrow.show(made, None, "sums", keys={"k": "many"}).rows


def test_a_client_of_connect_alone_is_not_enough(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Spark provider of Airflow brings one."""
    monkeypatch.setitem(sys.modules, "delta", None)
    refused(command("maintain", file), "the command needs Spark. Hint: pip install 'windrow[spark]'")


def test_panes_are_there_on_a_client_of_spark_connect() -> None:
    """With the variable PySpark takes itself for `pyspark-client`, which is installed in the same folder."""
    environment = {**os.environ, "SPARK_SKIP_CONNECT_COMPAT_TESTS": "1"}
    call = [sys.executable, "-c", CLIENT]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
