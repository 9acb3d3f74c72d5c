"""Quarantine: the rows of a landed file are taken out of what counts, and stay where they are, as dead letters.

It is a landing step of its own, in which the rows of that file get the reason `quarantined`. From then on no stage
reads them, no gate judges them, and whatever is recomputed from raw is without them. What a stage has shown already is
corrected by a backfill of the windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import SparkSession

from windrow.compile.elements.envelope import EVENT_TIME, OFFSET, QUARANTINED, REASON
from windrow.compile.sql.columns import Column, any_of, call, col, lit, when
from windrow.compile.windows.registry import compile_windows
from windrow.drivers.ingest.landings import raw_of
from windrow.drivers.pipeline.points import point
from windrow.drivers.spark.lakes import lake_session
from windrow.engine.frames import group, where
from windrow.sources.batch_files import offset_of
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.graph import reads_of
from windrow.spec.times import SECOND
from windrow.store.delta.lease import Lease
from windrow.store.delta.location import Lake
from windrow.store.delta.log.retries import tried_again
from windrow.store.projections.source import SourceProjections
from windrow.store.upstream.raw import Raw, is_in


@dataclass(frozen=True)
class Quarantined:
    """What a quarantine did: `rows` of `file` are out. Times are microseconds.

    `step` is its landing step, None where all rows of the file were out before. The windows that hold rows of the file
    start in [start, end); None where no row was given to a stage.
    """

    source: str
    file: str
    rows: int
    step: int | None
    start: int | None
    end: int | None


def quarantine(pipeline: Pipeline, spark: SparkSession, source: str, file: str) -> Quarantined:
    """Take the rows of a landed file out. `file` is its path, or the end of it. Errors: SpecError where none is it."""
    if not pipeline.source(source).connector.HAS_FILES:
        raise SpecError("source", "has no files that could be taken out", source)
    lake = Lake.of(pipeline.lake)
    session = lake_session(spark, lake)
    raw = raw_of(lake, pipeline.source(source))
    raw.check(session)
    offset = _offset(session, raw, file)
    found = tried_again(lambda: _take_out(session, pipeline, raw, offset), lease=Lease.of(session, lake))
    SourceProjections(session, lake, raw).project()
    return found


def _take_out(session: SparkSession, pipeline: Pipeline, raw: Raw, offset: str) -> Quarantined:
    last = raw.log.last(session)
    assert last is not None, "a file of it has landed"
    counts = group(
        raw.rows_of_file(session, last.step, offset),
        (),
        {
            "rows": call("count", 1), "in": call("count_if", is_in(offset)),
            "first": call("min", _when_alive(col(EVENT_TIME))), "last": call("max", _when_alive(col(EVENT_TIME))),
        },
    ).collect()[0]  # fmt: skip
    step = None
    if counts["in"]:
        step = last.step + 1
        point("quarantine:before_raw")
        raw.take_out(session, last, offset)
        point("quarantine:after_raw")
    start, end = _starts(pipeline, raw.name, counts["first"], counts["last"])
    return Quarantined(raw.name, unquote(offset), counts["rows"], step, start, end)


def _when_alive(column: Column) -> Column:
    """Of rows that a stage may have read: those without a reason, and those that a quarantine has taken out."""
    return when(col(REASON).is_null() | (col(REASON) == lit(QUARANTINED)), column)


def _starts(pipeline: Pipeline, source: str, first: int | None, last: int | None) -> tuple[int | None, int | None]:
    """From the first start of a window that holds `first` to the second behind `last`, over all stages."""
    if first is None or last is None:
        return None, None
    readers = [stage for stage in pipeline.stages if source in reads_of(stage).values()]
    windows = [stage.window for stage in readers if not stage.window.IS_GLOBAL]
    starts = [compile_windows(window).earliest_start(first) for window in windows]
    return min(first, *starts), (last // SECOND + 1) * SECOND


def _offset(session: SparkSession, raw: Raw, file: str) -> str:
    """The one landed file that is meant, as raw writes it. Errors: SpecError."""
    until = raw.last_step(session)
    wanted = file.removeprefix("file:")
    written = offset_of(session, wanted if "://" in wanted else f"/{wanted.lstrip('/')}")
    offset = call("concat", lit("/"), col(OFFSET))
    is_meant = any_of(call("endswith", offset, lit(f"/{end.lstrip('/')}")) for end in (written, wanted))
    meant = [row[OFFSET] for row in where(raw.files(session, until), is_meant).limit(2).collect()] if until else []
    if len(meant) == 1:
        return str(meant[0])
    newest = raw.files(session, until).orderBy(OFFSET, ascending=False).limit(3).collect() if until else []
    some = ", ".join(sorted(unquote(row[OFFSET]).rsplit("/", 1)[-1] for row in newest)) or "none"
    rule = "is more than one of the landed files" if meant else "is no file that has landed"
    hint = "give more of its path" if meant else f"`landings` counts them; the last are {some}"
    raise SpecError("--file", rule, file, hint)
