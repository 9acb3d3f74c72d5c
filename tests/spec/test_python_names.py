"""The public names of windrow: those that a type checker sees are those that are there."""

from __future__ import annotations

import ast
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest

import windrow
from windrow.spec.aggregates import AGGREGATES
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.all import CONNECTORS
from windrow.spec.times import instant
from windrow.spec.triggers.all import TRIGGERS
from windrow.spec.windows.all import WINDOW_FUNCTIONS

SOURCE = Path(windrow.__file__).read_text()


def test_a_type_checker_sees_the_names_that_are_there() -> None:
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    typed = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert set(typed) | {"__version__"} == set(windrow.__all__)
    for name, module in typed.items():
        assert getattr(windrow, name) is getattr(import_module(str(module)), name), name


def test_every_built_in_has_a_public_name() -> None:
    lists = (TRIGGERS, WINDOW_FUNCTIONS, AGGREGATES, CONNECTORS)
    own = [cls for names in lists for cls in names.values() if cls.__module__.startswith("windrow.")]
    assert [cls.__name__ for cls in own if getattr(windrow, cls.__name__, None) is not cls] == []


def test_what_extensions_import_is_in_one_place() -> None:
    extend = import_module("windrow.extend")
    assert all(hasattr(extend, name) for name in extend.__all__)
    assert extend.sql.bigint(1).text


def test_names_of_specifications_need_no_spark() -> None:
    program = "import sys, windrow; windrow.Pipeline, windrow.Sessions, windrow.SpecError, windrow.Table; "
    program += "sys.exit(', '.join({'pyspark', 'pandas'} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_times_and_durations_are_those_of_python() -> None:
    assert windrow.FixedWindows(size=timedelta(hours=1)) == windrow.FixedWindows(size="1h")  # type: ignore[arg-type]
    at = instant("start", "2024-01-01T01:00:00Z")
    assert at == instant("start", datetime(2024, 1, 1, 1, tzinfo=UTC)) == instant("start", datetime(2024, 1, 1, 1))
    assert instant("start", at) == at
    with pytest.raises(SpecError, match=r"^start must be a time"):
        instant("start", "yesterday")


def test_the_tables_of_a_stage() -> None:
    stage = {"name": "hourly", "window": {"fixed": {"size": "1h"}}, "aggregates": {"n": {"count": "*"}}}
    source = {
        "name": "rows", "files": {"path": "data", "format": "json"}, "schema": "at string",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    made = Pipeline.from_mapping({"pipeline": "p", "lake": "lake/p/", "sources": [source], "stages": [stage]})
    assert made.table("hourly").path("current") == "lake/p/hourly/current"
    assert made.table("rows").path("raw") == "lake/p/rows/raw"
    with pytest.raises(SpecError, match=r"table is no stage or source of the pipeline.*one of hourly, rows"):
        made.table("daily")
