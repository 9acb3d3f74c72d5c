"""Where a pipeline stands as metrics of OpenMetrics: https://openmetrics.io

Times are seconds since 1970, lengths are seconds, as Prometheus has them. Whatever is not known is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from windrow.spec.stages.freshness import FreshnessLevel
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.view.status import PartitionStatus, SourceStatus, StageStatus

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Kind = Literal["counter", "gauge"]


@dataclass(frozen=True)
class Family:
    """What a metric says, and the names of its labels beside `pipeline`."""

    kind: Kind
    help: str
    labels: tuple[str, ...]


FAMILIES: Mapping[str, Family] = {
    "windrow_source_rows": Family("counter", "Rows that have landed.", ("source",)),
    "windrow_source_batches": Family("counter", "Landing batches.", ("source",)),
    "windrow_source_dead_rows": Family("counter", "Rows that were dead when they landed.", ("source", "reason")),
    "windrow_source_arrival_timestamp_seconds": Family("gauge", "When the newest row arrived.", ("source",)),
    "windrow_source_event_timestamp_seconds": Family("gauge", "The greatest event time that has landed.", ("source",)),
    "windrow_stage_generation": Family("gauge", "The newest generation of the stage.", ("stage",)),
    "windrow_stage_ticks": Family("counter", "Ticks of the newest generation.", ("stage",)),
    "windrow_stage_tick_timestamp_seconds": Family("gauge", "Processing time of the last tick.", ("stage",)),
    "windrow_stage_tick_seconds": Family(
        "gauge", "How long the last tick has taken, by phase: planning, commit, projection.", ("stage", "phase")
    ),
    "windrow_stage_watermark_timestamp_seconds": Family("gauge", "The watermark after the last tick.", ("stage",)),
    "windrow_stage_watermark_age_seconds": Family("gauge", "How far the watermark is behind the clock.", ("stage",)),
    "windrow_stage_watermark_lag_seconds": Family(
        "gauge", "How far the watermark was behind the processing time of the last tick.", ("stage",)
    ),
    "windrow_partition_watermark_timestamp_seconds": Family(
        "gauge", "The watermark of a source partition.", ("stage", "partition")
    ),
    "windrow_partition_idle": Family("gauge", "1 while a source partition holds nobody back.", ("stage", "partition")),
    "windrow_stage_rows_behind": Family("gauge", "Rows, or panes, that the stage has not read yet.", ("stage",)),
    "windrow_stage_batches_behind": Family("gauge", "Landing batches, or ticks, that it has not read yet.", ("stage",)),
    "windrow_stage_ticks_not_projected": Family("gauge", "Ticks that the tables do not show yet.", ("stage",)),
    "windrow_stage_rows": Family("counter", "Rows that were read, by where they are.", ("stage", "place")),
    "windrow_stage_dead_rows": Family("counter", "Rows that were read and are in no result.", ("stage", "reason")),
    "windrow_stage_pairs": Family("counter", "Pairs of row and window, by where they are.", ("stage", "place")),
    "windrow_stage_panes": Family("counter", "Panes that were shown, by their timing.", ("stage", "timing")),
    "windrow_stage_retractions": Family("counter", "Panes that were retracted.", ("stage",)),
    "windrow_stage_open_windows": Family("gauge", "Keys and windows with state.", ("stage",)),
    "windrow_stage_results": Family("gauge", "Rows of the table current.", ("stage",)),
    "windrow_stage_backfills": Family("counter", "Backfills and restatements among the ticks.", ("stage",)),
    "windrow_stage_freshness_age_seconds": Family("gauge", "How old the newest complete result is.", ("stage",)),
    "windrow_stage_freshness_level": Family("gauge", "0 fresh, 1 a warning, 2 an error.", ("stage",)),
    "windrow_read_timestamp_seconds": Family("gauge", "When these metrics were read.", ()),
}  # fmt: skip
"""Every metric. A counter has `_total` behind its name where it is written."""

Sample = tuple[str, tuple[str, ...], float]
"""The name of a metric, its labels in their order, and its value."""

_LEVELS = {FreshnessLevel.FRESH: 0, FreshnessLevel.WARN: 1, FreshnessLevel.ERROR: 2}


@dataclass(frozen=True)
class Standing:
    """Where a pipeline stands, as of `now` (microseconds). `phases` are seconds of the last tick of each stage.

    Of the stages in `hidden` the names of source partitions are values that nobody is shown.
    """

    pipeline: str
    now: int
    sources: Sequence[SourceStatus]
    stages: Sequence[StageStatus]
    phases: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    def samples(self) -> Iterator[Sample]:
        """Every value, in no order."""
        yield "windrow_read_timestamp_seconds", (), self.now / SECOND
        for source in self.sources:
            yield from _of_source(source)
        for stage in self.stages:
            yield from self._of_stage(stage)

    def _of_stage(self, one: StageStatus) -> Iterator[Sample]:
        if one.tick is None:
            return
        yield from _counters(one)
        gauges = {
            "generation": one.generation, "tick_timestamp_seconds": _seconds(one.now),
            "watermark_timestamp_seconds": _seconds(one.watermark),
            "watermark_age_seconds": _between(one.watermark, self.now),
            "watermark_lag_seconds": _between(one.watermark, one.now),
            "rows_behind": one.rows_behind, "batches_behind": one.batches_behind,
            "ticks_not_projected": max(0, one.tick - one.projected_to),
            "open_windows": one.open_cells, "results": one.shown,
        }  # fmt: skip
        for name, value in gauges.items():
            if value is not None:
                yield f"windrow_stage_{name}", (one.stage,), float(value)
        for phase, seconds in self.phases.get(one.stage, {}).items():
            yield "windrow_stage_tick_seconds", (one.stage, phase), seconds
        if one.freshness is not None:
            yield "windrow_stage_freshness_level", (one.stage,), _LEVELS[one.freshness.level]
            if one.freshness.age is not None:
                yield "windrow_stage_freshness_age_seconds", (one.stage,), one.freshness.age / SECOND
        if one.stage not in self.hidden:
            for part in one.partitions:
                yield from _of_partition(one.stage, part)


def _of_source(one: SourceStatus) -> Iterator[Sample]:
    yield "windrow_source_rows", (one.source,), one.rows
    yield "windrow_source_batches", (one.source,), one.batches
    for reason, number in one.dead.items():
        yield "windrow_source_dead_rows", (one.source, reason), number
    times = {"arrival": one.last_arrival, "event": one.greatest_event_time}
    for name, time in times.items():
        seconds = _seconds(time)
        if seconds is not None:
            yield f"windrow_source_{name}_timestamp_seconds", (one.source,), seconds


def _counters(one: StageStatus) -> Iterator[Sample]:
    yield "windrow_stage_ticks", (one.stage,), one.tick or 0
    yield "windrow_stage_backfills", (one.stage,), one.backfills
    yield "windrow_stage_retractions", (one.stage,), one.retracted
    rows = {"in_windows": one.in_windows, "filtered": one.filtered, "unassigned": one.unassigned}
    pairs = {"aggregated": one.aggregated, "late": one.late, "closed": one.closed}
    for name, parts in (("rows", rows), ("pairs", pairs), ("dead_rows", one.dead), ("panes", one.timings)):
        for label, number in parts.items():
            yield f"windrow_stage_{name}", (one.stage, label), number


def _of_partition(stage: str, part: PartitionStatus) -> Iterator[Sample]:
    name = part.partition or ""
    yield "windrow_partition_idle", (stage, name), float(part.idle)
    seconds = _seconds(part.watermark)
    if seconds is not None:
        yield "windrow_partition_watermark_timestamp_seconds", (stage, name), seconds


def _seconds(time: int | None) -> float | None:
    """An infinity is no time."""
    return None if time is None or time in (INFINITY, MINUS_INFINITY) else time / SECOND


def _between(earlier: int | None, later: int | None) -> float | None:
    first, last = _seconds(earlier), _seconds(later)
    return None if first is None or last is None else last - first


def metrics_of(standing: Standing) -> Iterable[Metric]:
    """The same as the library of Prometheus has it."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kinds = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily}
    found = {name: kinds[one.kind](name, one.help, labels=("pipeline", *one.labels)) for name, one in FAMILIES.items()}
    for name, labels, value in standing.samples():
        found[name].add_metric((standing.pipeline, *labels), float(value))
    return [family for family in found.values() if family.samples]
