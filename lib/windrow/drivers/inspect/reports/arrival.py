"""The watermark of a stage against arrival, read from its panes and ticks and the rows of its sources."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME
from windrow.drivers.inspect.status.logs import RawRows
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import NUMBER, Condition, Groups, LakeTable, Tables
from windrow.view.pictures.against_arrival import Point, around, thinned
from windrow.view.pictures.axes import spread
from windrow.view.pictures.density import density_of_grid, grid_query
from windrow.view.pictures.values import Density, PaneCount
from windrow.view.reports.arrival import Arrival


def arrivals_of(tables: Tables, pipeline: Pipeline, start: int | None, end: int | None) -> list[Arrival]:
    """By stage, over windows that start in [start, end). Nothing of stages whose panes were shown all at once."""
    found = [_arrival(tables, pipeline, stage, start, end) for stage in pipeline.stages if not stage.window.IS_GLOBAL]
    return [one for one in found if one is not None]


def _arrival(tables: Tables, pipeline: Pipeline, stage: Stage, start: int | None, end: int | None) -> Arrival | None:
    lake = Lake.of(pipeline.lake)
    panes, ticks = (tables.open(lake.table(stage.name, name)) for name in ("panes", "ticks"))
    if panes is None or ticks is None:
        return None
    times, watermark = _ticks(ticks)
    shown = _shown(panes, times, start, end)
    if len({pane.shown_at for pane in shown}) < 2:
        return None
    line = around(watermark, min(pane.end for pane in shown), max(pane.end for pane in shown))
    if not line:
        return None
    read = [one for one in pipeline.upstreams_of(stage).values() if isinstance(one, Source)]
    raw = [RawRows.of(tables, lake, source.name) for source in read]
    return Arrival(stage.name, thinned(line), shown, _density(tables, raw, shown, line))


def _ticks(ticks: LakeTable) -> tuple[dict[int, int], list[Point]]:
    """When each tick of the newest generation was, and the watermark after it."""
    rows = [row for batch in ticks.rows(("generation", "tick", "now", "watermark")) for row in batch.to_pylist()]
    newest = max((row["generation"] for row in rows), default=0)
    rows = sorted((row for row in rows if row["generation"] == newest), key=lambda row: int(row["tick"]))
    times = {row["tick"]: row["now"] for row in rows if row["now"] is not None}
    known = [row for row in rows if row["now"] is not None and row["watermark"] is not None]
    return times, [(row["watermark"], row["now"]) for row in known]


def _shown(panes: LakeTable, times: dict[int, int], start: int | None, end: int | None) -> list[PaneCount]:
    conditions = [Condition("weight", ">", 0), Condition("window_end", "is known")]
    if start is not None and end is not None:
        conditions += [Condition("window_start", ">=", start), Condition("window_start", "<", end)]
    groups = panes.groups(Groups(by=("window_end", "tick", "timing")), *conditions).to_pylist()
    return [
        PaneCount(row["timing"], row["window_end"], times[row["tick"]], row[NUMBER])
        for row in sorted(groups, key=lambda row: (row["tick"], row["window_end"], row["timing"]))
        if row["tick"] in times
    ]


def _density(
    tables: Tables, raw: Sequence[RawRows], shown: Sequence[PaneCount], line: Sequence[Point]
) -> Density | None:
    """Where the rows are that have landed while these panes were shown; none of rows that are read in place."""
    across = spread([pane.end for pane in shown], 0.02)
    up = spread([*(pane.shown_at for pane in shown), *(at for _, at in line)], 0.02)
    times, arrivals = (f"{tables.quote}{name}{tables.quote}" for name in (EVENT_TIME, ARRIVAL_TIME))
    sql = grid_query(times, arrivals, "raw_rows", across, up)
    there = [rows.table for rows in raw if rows.table is not None and not rows.are_elsewhere]
    counted = density_of_grid(
        (row for table in there for row in tables.query(sql, {"raw_rows": table}).to_pylist()), across, up
    )
    return counted if counted.counts else None
