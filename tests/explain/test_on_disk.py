"""The command over tables of Delta on a disk, as it is typed: no Spark, exit codes, text and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest
import yaml
from deltalake import CommitProperties, Transaction, write_deltalake

import windrow
from tests.cli.command import windrow as command
from tests.explain.model_lake import COLUMNS, Table, made_by_model, with_offsets
from tests.explain.runs import LATE_RUN
from windrow.spec.times import SECOND

ARROW = {
    "bigint": pa.int64(), "int": pa.int32(), "string": pa.string(), "double": pa.float64(), "boolean": pa.bool_(),
    "decimal(6, 2)": pa.decimal128(6, 2), "array<bigint>": pa.list_(pa.int64()),
    "timestamp": pa.timestamp("us", tz="UTC"),
}  # fmt: skip
OF_TABLES = {
    "_windrow/generations": "stage string, generation int, fingerprint string, step bigint",
    "stage/journal/1": "tick bigint, _control string, _kind string",
    "stage/dead_letters": "reason string, rule string, event_time timestamp, window_start timestamp, "
    "window_end timestamp, element string, source string, offset string, arrived_at timestamp, tick bigint, "
    "restated_by bigint",
    "stage/panes": "k string, window_start timestamp, window_end timestamp, n bigint, total bigint, timing string, "
    "pane_index int, on_time_index int, is_last boolean, event_time timestamp, watermark timestamp, "
    "produced_at timestamp, tick bigint, change string, weight int, is_first boolean, trigger string, "
    "watermark_percentile int",
}
ENVELOPE = ("_step", "_row", "_event_time", "_arrival_time")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline file, and the lake of a run that the model has made."""
    root = tmp_path_factory.mktemp("on-disk")
    lake = with_offsets(made_by_model(LATE_RUN))
    for name, table in lake.tables.items():
        kinds = dict(one.rsplit(" ", 1) for one in OF_TABLES[name].split(", ")) if name in OF_TABLES else raw_kinds()
        write(root / "lake" / name, table, kinds)
    mapping = {**lake.pipeline.to_mapping(), "lake": str(root / "lake")}
    path = root / "pipeline.yaml"
    path.write_text(yaml.safe_dump(mapping, sort_keys=False))
    return path


def raw_kinds() -> dict[str, str]:
    own = {name: kind for name, kind in COLUMNS.items() if name != "at"}
    envelope = {name: "bigint" if name in ENVELOPE else "string" for name in (*ENVELOPE, *OTHERS)}
    return {**own, **envelope}


OTHERS = ("_partition", "_offset", "_reason", "_rule", "_raw")


def write(path: Path, table: Table, kinds: dict[str, str]) -> None:
    schema = pa.schema([(name, ARROW[kind]) for name, kind in kinds.items()])
    rows = pa.Table.from_pylist([{name: row.get(name) for name in kinds} for row in table.content], schema)
    step = [Transaction("windrow-raw-source", table.last)] if table.last else None
    notes = {"userMetadata": json.dumps({"step": 1, "writer": "w", **table.noted})}
    write_deltalake(path, rows, commit_properties=CommitProperties(custom_metadata=notes, app_transactions=step))


def test_text(file: Path) -> None:
    done = command("explain", file, "stage", "--key", "a", "--at", "1970-01-01T00:00:09Z")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("stage, k a, 1970-01-01 00:00 - 00:00:10")
    for words in ("n 4, total 26: pane 2 (late)", "early: 2 new elements (after_count)", "the rows give the same"):
        assert words in done.out
    named = command("explain", file, "stage", "--key", "k=a", "--at", "1970-01-01T00:00:00Z/1970-01-01T00:00:10Z")
    assert named.out == done.out


def test_a_picture(file: Path, tmp_path: Path) -> None:
    drawing = tmp_path / "pictures" / "why.svg"
    done = command("explain", file, "stage", "--key", "a", "--at", "1970-01-01T00:00:05Z", "--draw", drawing)
    assert done.code == 0 and done.out.startswith("stage, k a")
    text = drawing.read_text()
    assert ElementTree.fromstring(text).tag.endswith("svg")
    for words in ("n 2", "n 4", "late element", "dead letter", "watermark"):
        assert words in text


def test_json(file: Path) -> None:
    found = command("explain", file, "stage", "--key", "k=a", "--at", "1970-01-01", "--json").json
    assert found["window"] == [0, 10 * SECOND] and found["differences"] == []
    assert [pane["value"] for pane in found["panes"]][-1] == {"n": 4, "total": 26}
    assert {element["offset"] for element in found["elements"] if element["is_late"]} == {"file-5.json"}


def test_in_python(file: Path) -> None:
    life = windrow.load(file).explain("stage", {"k": "a"}, "1970-01-01T00:00:05Z")
    assert life.text(100) == windrow.explain(windrow.load(file), "stage", {"k": "a"}, 5 * SECOND).text(100)
    assert "<details" in life._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--at", "1970-01-01"], "--key must name the one key to explain: k is missing"),
        (["--key", "a", "--at", "soon"], "--at must be a time"),
        (["--key", "a", "--at", "1970-01-01", "--set", "lake=/nowhere"], "has not run in this lake"),
    ],
)
def test_what_is_refused(file: Path, arguments: list[str], words: str) -> None:
    done = command("explain", file, "stage", *arguments)
    assert done.code == 2 and words in done.err and "Traceback" not in done.err


def test_exit_code_1_where_the_rows_say_otherwise(file: Path, tmp_path: Path) -> None:
    lake = with_offsets(made_by_model(LATE_RUN))
    panes = lake.tables["stage/panes"]
    panes.content[-1]["n"] = 5
    for name, table in lake.tables.items():
        kinds = dict(one.rsplit(" ", 1) for one in OF_TABLES[name].split(", ")) if name in OF_TABLES else raw_kinds()
        write(tmp_path / name, table, kinds)
    done = command("explain", file, "stage", "--key", "a", "--at", "1970-01-01", "--set", f"lake={tmp_path}")
    assert done.code == 1 and "tick 4: n is 5, and 4 by the rows" in done.out
