"""The history of a source, read once: its rows in the order of their arrival, and what they give the cells of a stage.

Nothing is written. Rows that have landed are read from the lake; where none have, files are read that say when their
rows arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import ELEMENTS, EVENT_TIME, KEY, NET, WEIGHT, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.elements.envelope import ARRIVAL_TIME, REASON
from windrow.compile.sql.columns import Column, bigint, call, col, div, lit
from windrow.compile.stage import CompiledStage, tick_partials
from windrow.compile.triggers.tree import tick_part
from windrow.drivers.ingest.landings import raw_of
from windrow.drivers.pipeline.compiled import compiled_stage
from windrow.drivers.simulate.order import Order
from windrow.engine.frames import apply, group, over, select, where, with_column
from windrow.engine.tick.collect_statistics import statistics_by
from windrow.engine.tick.micro_batch import STATISTICS_COLUMNS, columns_used
from windrow.engine.tick.statistics import BatchStatistics
from windrow.engine.windows.registry import strategy_of
from windrow.sources.whole import whole
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.loading import suites_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.simulation.trials import Trial
from windrow.spec.sources.source import Source
from windrow.spec.stages.inputs import ONLY
from windrow.store.delta.location import Lake
from windrow.view.pictures.values import Density

TICK = "_tick"
"""The column of a row's tick: no source has one of that name."""
LAST_ARRIVAL = "last_arrival"


def compiled(spark: SparkSession, source: Source, trial: Trial) -> CompiledStage:
    """The stage of a trial over the rows of its source, as its only input. Errors: SpecError."""
    source = replace(source, watermark=trial.watermark)
    return compiled_stage(spark, trial.stage, {ONLY: source}).of_input(ONLY)


@dataclass(frozen=True)
class History:
    """The rows that arrived, with their envelope and `TICK`."""

    rows: DataFrame

    @classmethod
    @contextmanager
    def read(
        cls, spark: SparkSession, pipeline: Pipeline, source: Source, order: Order, stages: Iterable[CompiledStage]
    ) -> Iterator[History]:
        """The rows of a source, with the columns that some of these stages use, read once for all of them.

        Errors: SpecError where nothing is known of them.
        """
        rows = _rows(spark, pipeline, source)
        used = frozenset().union(*map(columns_used, stages))
        names = [name for name in rows.columns if name in STATISTICS_COLUMNS or name.lower() in used]
        rows = with_column(rows, TICK, order.step).select(*names, TICK).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield cls(rows)
        finally:
            rows.unpersist()

    def statistics(self, stage: CompiledStage) -> tuple[dict[int, BatchStatistics], int]:
        """What arrived with each tick, and the rows that did not say when they did: they are dead."""
        found = statistics_by(stage, self._judged(stage), TICK)
        nowhere = found.pop(None, BatchStatistics())
        return {step: one for step, one in found.items() if step is not None}, nowhere.counters.read

    def touches(self, stage: CompiledStage, span: tuple[int | None, int | None]) -> pa.Table:
        """The cells that get elements in a tick, those too that had expired: of windows that start in the span.

        `key` is a hash of 64 bits. Columns as `load_touches` wants them.
        """
        strategy = strategy_of(stage)
        found = strategy.combine_by(self._elements(stage), TICK, _parts(stage), _merged(stage))
        names = (KEY, WINDOW_START, WINDOW_END, LAST_ARRIVAL, *_counts(stage), *_of_trigger(stage))
        columns = {**{name: col(name) for name in names}, "tick": col(TICK)}
        table: pa.Table = select(_within(found, span), columns).toArrow()
        return table

    def arrivals(
        self, stage: CompiledStage, ages: Iterable[int], span: tuple[int | None, int | None], until: int
    ) -> tuple[int, list[int]]:
        """Pairs of element and window, of windows in the span that end by then: how many there are, and how many had
        arrived when the end of the window was so long ago, for each age in microseconds.
        """
        pairs = strategy_of(stage).pairs(self._elements(stage), EVENT_TIME)
        pairs = where(_within(pairs, span), col(WINDOW_END) <= bigint(until))
        lag = col(ARRIVAL_TIME) - col(WINDOW_END)
        counts = {f"age_{n}": call("count_if", lag <= bigint(age)) for n, age in enumerate(ages)}
        (row,) = group(pairs, (), {"pairs": call("count", 1), **counts}).collect()
        return row["pairs"], [row[name] for name in counts]

    def frame(self, window: int) -> tuple[int, int] | None:
        """Event times in the middle of the history that a picture shows; None where no row is alive.

        As long as eight windows, and eight times as long as 95 percent of the rows take to arrive: else a line is all
        that one sees of a month.
        """
        lag = call("percentile_approx", col(ARRIVAL_TIME) - col(envelope.EVENT_TIME), lit(0.95))
        at = col(envelope.EVENT_TIME)
        figures = {"first": call("min", at), "last": call("max", at), "middle": call("percentile_approx", at, lit(0.5))}
        (row,) = group(self._alive(), (), {**figures, "lag": lag}).collect()
        if row["first"] is None:
            return None
        length = 8 * max(window, row["lag"], 1)
        first = max(row["first"], min(row["middle"] - length // 2, row["last"] - length))
        return first, min(first + length, row["last"] + 1)

    def density(self, frame: tuple[int, int], columns: int, rows: int) -> Density | None:
        """How many rows there are by event time, in the frame, and arrival, on a grid."""
        at, when = col(envelope.EVENT_TIME), col(ARRIVAL_TIME)
        alive = where(self._alive(), at.between(bigint(frame[0]), bigint(frame[1] - 1)))
        (row,) = group(alive, (), {"from": call("min", when), "to": call("max", when)}).collect()
        if row["from"] is None:
            return None
        up = (row["from"], row["to"] + 1)
        places = select(alive, {"across": _place(at, frame, columns), "up": _place(when, up, rows)})
        counts = group(places, ("across", "up"), {"rows": call("count", 1)}).collect()
        return Density(frame, up, columns, rows, {(one["across"], one["up"]): one["rows"] for one in counts})

    def _alive(self) -> DataFrame:
        """The rows with both times that are not dead."""
        known = col(envelope.EVENT_TIME).is_not_null() & col(ARRIVAL_TIME).is_not_null()
        return where(self.rows, col(REASON).is_null() & known)

    def _judged(self, stage: CompiledStage) -> DataFrame:
        return apply(stage.elements.judged(over(self.rows)), self.rows)

    def _elements(self, stage: CompiledStage) -> DataFrame:
        """The elements of the stage with their tick and arrival; the key is a number."""
        alive = where(self.rows, col(REASON).is_null())
        elements = stage.elements
        found = apply(elements.elements(elements.judged(over(alive)), (TICK, ARRIVAL_TIME)), alive)
        named = [col(KEY, name) for name in stage.stage.keys]
        identity = [part for column in named for part in (column.is_null(), column)]  # a hash passes over nulls
        return with_column(found, KEY, call("xxhash64", *identity) if identity else bigint(0))


def _rows(spark: SparkSession, pipeline: Pipeline, source: Source) -> DataFrame:
    raw = raw_of(Lake.of(pipeline.lake), source)
    last = raw.last_step(spark)
    if last:
        return raw.rows(spark, 0, last)
    suite = suites_of(pipeline).get(source.name)
    rows = whole(spark, source, () if suite is None else suite.row_rules)
    if rows is None:
        rule = "has no rows that have landed, and none that say when they arrived"
        hint = "windrow run --once lands them; arrival_time: {column: ...} says which column has their arrival"
        raise SpecError(f"sources.{source.name}", rule, None, hint)
    return rows


def _place(time: Column, span: tuple[int, int], number: int) -> Column:
    """Where a time is on an axis of so many places; the end of the span is excluded."""
    first, last = span
    return div((time - bigint(first)) * bigint(number), last - first).cast("int")


def _within(pairs: DataFrame, span: tuple[int | None, int | None]) -> DataFrame:
    start, end = span
    if start is not None:
        pairs = where(pairs, col(WINDOW_START) >= bigint(start))
    return pairs if end is None else where(pairs, col(WINDOW_START) < bigint(end))


def _counts(stage: CompiledStage) -> tuple[str, ...]:
    return (ELEMENTS, NET) if stage.is_weighted else (ELEMENTS,)


def _of_trigger(stage: CompiledStage) -> tuple[str, ...]:
    return tuple(tick_part(name, part) for name, one in stage.tree.aggregates.items() for part in one.parts)


def _parts(stage: CompiledStage) -> Mapping[str, Column]:
    net = {NET: call("sum", col(WEIGHT).cast("bigint"))} if stage.is_weighted else {}
    arrival = {LAST_ARRIVAL: call("max", col(ARRIVAL_TIME))}
    return {ELEMENTS: call("count", 1), **net, **arrival, **tick_partials(stage.tree.aggregates)}


def _merged(stage: CompiledStage) -> Mapping[str, Column]:
    sums = {name: call("sum", col(name)) for name in _counts(stage)}
    of_trigger = {
        tick_part(name, part): columns.merge(col(tick_part(name, part)))
        for name, one in stage.tree.aggregates.items()
        for part, columns in one.parts.items()
    }
    return {**sums, LAST_ARRIVAL: call("max", col(LAST_ARRIVAL)), **of_trigger}
