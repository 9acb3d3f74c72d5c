"""Whether something new has come for a source, as who waits sees it without Spark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.spec.sources.source import Source


def arrivals(watermark: dict[str, Any] | None = None, **connector: Any) -> Arrivals:
    """A source that somebody has looked at just now."""
    fields = {"name": "clicks", "schema": "at timestamp", "event_time": {"column": "at"}}
    return Arrivals.of(
        Source.from_mapping({**fields, "watermark": watermark or {"bounded_delay": "1h"}, **connector})
    ).looked_at()


def test_a_file_that_comes_changes_or_goes_is_new(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    file = tmp_path / "day=1" / "a.json"
    steps = [
        lambda: file.write_text("{}\n"),
        lambda: file.write_text("{}\n{}\n"),
        lambda: os.utime(file, (1, 1)),
        lambda: file.rename(tmp_path / "b.json"),
    ]
    for step in steps:
        before = arrivals(files={"path": str(tmp_path), "format": "json"})
        assert before.seen is not None and not before.has_new
        step()
        assert before.has_new


def test_hidden_files_are_not_new(tmp_path: Path) -> None:
    before = arrivals(files={"path": f"file://{tmp_path}", "format": "json"})
    for name in (".hidden", "_temporary"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.json").write_text("{}\n")
    assert not before.has_new
    (tmp_path / "_day=1").mkdir()
    (tmp_path / "_day=1" / "a.json").write_text("{}\n")
    assert before.has_new


def test_a_version_of_a_delta_table_is_new(tmp_path: Path) -> None:
    def write() -> None:
        write_deltalake(str(tmp_path / "table"), pa.table({"at": [1]}), mode="append")

    write()
    before = arrivals(delta={"path": str(tmp_path / "table")})
    assert not before.has_new
    write()
    assert before.has_new


def test_another_delta_table_in_its_place_is_new(tmp_path: Path) -> None:
    def write() -> None:
        write_deltalake(str(tmp_path / "table"), pa.table({"at": [1]}))

    write()
    before = arrivals(delta={"path": str(tmp_path / "table")})
    shutil.rmtree(tmp_path / "table")
    write()
    assert before.has_new


def test_of_a_folder_behind_a_link_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "elsewhere").mkdir()
    assert not arrivals(files={"path": str(tmp_path / "data"), "format": "json"}).has_new
    (tmp_path / "data" / "day=1").symlink_to(tmp_path / "elsewhere")
    assert arrivals(files={"path": str(tmp_path / "data"), "format": "json"}).has_new


@pytest.mark.parametrize(
    "given",
    [
        {"files": {"path": "{folder}/nowhere", "format": "json"}},
        {"files": {"path": "{folder}/[ab]", "format": "json"}},
        {"files": {"path": "s3://nowhere/data", "format": "json"}},
        {"files": {"path": "${{NOWHERE_AT_ALL}}/data", "format": "json"}},
        {"delta": {"path": "{folder}/nowhere"}},
        {"delta": {"path": "hdfs://nowhere/table"}},
        {"kafka": {"servers": "nowhere:9092", "topic": "clicks"}},
        {"files": {"path": "{folder}", "format": "json"}, "watermark": {"fixed_lag": "1h"}},
        {"files": {"path": "{folder}", "format": "json"}, "watermark": {"bounded_delay": "1h", "idle_timeout": "1h"}},
    ],
    ids=str,
)
def test_where_a_look_tells_nothing_something_may_be_new(tmp_path: Path, given: dict[str, Any]) -> None:
    for connector in given.values():
        if "path" in connector:
            connector["path"] = connector["path"].format(folder=tmp_path)
    assert arrivals(**given).has_new
