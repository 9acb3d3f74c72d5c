"""The spans of a stream, as the library of OpenTelemetry gets them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pyspark.sql import SparkSession

from tests.lake import pipeline, table, write_files
from windrow.drivers.pipeline.spans import span
from windrow.drivers.stream.stream import run


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def test_a_stream_has_spans_of_its_ticks(spark: SparkSession, tmp_path: Path, exported: InMemorySpanExporter) -> None:
    write_files(tmp_path / "data", range(2))
    run(pipeline(tmp_path), spark, once=True, drain=True)
    by_name: dict[str, list[ReadableSpan]] = {}
    for one in exported.get_finished_spans():
        by_name.setdefault(one.name, []).append(one)
    assert {"windrow.land", "windrow.tick", "windrow.statistics", "windrow.commit", "windrow.project"} <= by_name.keys()
    ticks = [dict(one.attributes or {}) for one in by_name["windrow.tick"]]
    panes = {one["windrow.tick"]: one["windrow.panes"] for one in ticks if "windrow.tick" in one}
    assert panes == {row["tick"]: row["panes"] for row in table(spark, tmp_path, "ticks").collect()}
    of_ticks = {one.context.span_id for one in by_name["windrow.tick"]}
    assert {one.parent and one.parent.span_id for one in by_name["windrow.commit"]} <= of_ticks


def test_a_process_that_does_not_trace_has_none(
    exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    with span("tick", stage="sums") as tell:
        tell(tick=1)
    assert exported.get_finished_spans() == ()
