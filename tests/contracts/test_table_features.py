"""What readers other than Spark make of features by which Delta changes a column in place: why `raw` has neither."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaProtocolError

WIDENED = {"type": "long", "metadata": {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}}
RENAMED = {"name": "w", "metadata": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "v"}}
WIDENING = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["typeWidening"],
            "writerFeatures": ["typeWidening", "appendOnly", "invariants"]}  # fmt: skip
MAPPING = {"minReaderVersion": 2, "minWriterVersion": 5}


def with_arrow(path: str) -> list[dict[str, Any]]:
    return list(DeltaTable(path).to_pyarrow_table().to_pylist())


def with_polars(path: str) -> list[dict[str, Any]]:
    return polars.read_delta(path).to_dicts()


def table(root: Path, change: dict[str, Any], protocol: dict[str, Any], **properties: str) -> str:
    """A table of two whole numbers whose only column is changed in place, as the protocol of Delta has it."""
    write_deltalake(str(root), pa.table({"v": pa.array([1, 2], pa.int32())}))
    log = root / "_delta_log"
    actions = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    metadata = next(action["metaData"] for action in actions if "metaData" in action)
    schema = json.loads(metadata["schemaString"])
    schema["fields"][0] |= change
    changed = {**metadata, "schemaString": json.dumps(schema), "configuration": properties}
    commit = [json.dumps(action) for action in ({"protocol": protocol}, {"metaData": changed})]
    (log / f"{1:020}.json").write_text("\n".join(commit) + "\n")
    return str(root)


@pytest.mark.parametrize("read", [with_arrow, with_polars])
def test_a_table_with_type_widening_is_refused(tmp_path: Path, read: Callable[[str], Any]) -> None:
    path = table(tmp_path, WIDENED, WIDENING, **{"delta.enableTypeWidening": "true"})
    with pytest.raises(DeltaProtocolError, match="typeWidening"):
        read(path)


def test_a_table_with_column_mapping_is_refused_or_loses_its_values(tmp_path: Path) -> None:
    """What is worse: no error, and null in every row."""
    mapped = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "1"}
    path = table(tmp_path, RENAMED, MAPPING, **mapped)
    assert with_arrow(path) == [{"w": None}, {"w": None}]
    with pytest.raises(DeltaProtocolError, match="column mapping"):
        with_polars(path)


@pytest.mark.parametrize("read", [with_arrow, with_polars])
def test_a_column_more_is_read_by_everybody(tmp_path: Path, read: Callable[[str], Any]) -> None:
    """What `raw` does instead."""
    write_deltalake(str(tmp_path), pa.table({"v": pa.array([1], pa.int32())}))
    later = pa.table({"v": pa.array([None], pa.int32()), "v__bigint": pa.array([2**40], pa.int64())})
    write_deltalake(str(tmp_path), later, mode="append", schema_mode="merge")
    found = sorted(read(str(tmp_path)), key=lambda row: row["v"] is None)
    assert found == [{"v": 1, "v__bigint": None}, {"v": None, "v__bigint": 2**40}]
