"""The gate of a new generation: its suite judges what has expired before the tables show it instead of the old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, quoted
from windrow.drivers.inspect.findings import findings
from windrow.drivers.pipeline.judged import Judgements
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.runner import StageRunner
from windrow.engine.frames import where
from windrow.quality.gate import judge
from windrow.quality.located import LocatedRows
from windrow.spec.quality.judgements import GateFailed, GateResult
from windrow.spec.quality.suites import Suite
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import STREAM_RUN, Audits
from windrow.store.journal.control import Control
from windrow.store.projections.current import standing
from windrow.store.projections.quality_results import Judged
from windrow.store.projections.tick_range import TickRange


def ended_in(after: int, until: int) -> Column:
    """Whether a window of `current` ends behind the one time and not behind the other, in microseconds."""
    end = coalesce(call("unix_micros", col("window_end")), bigint(INFINITY))
    return (end > bigint(after)) & (end <= bigint(until))


def judged_columns(stage: Stage, rows: DataFrame) -> DataFrame:
    """What the suite of a stage knows of its rows in `current`."""
    names = [*stage.keys, "window_start", "window_end", *stage.result_columns]
    return rows.select(*[quoted(name) for name in names])


@dataclass
class NewGeneration:
    """The gate of a stage whose tables show another generation. `passed` is the tick up to which it was passed.

    `path` is that of the suite, `judgements` keeps what it finds, `clock` tells the time in microseconds.
    """

    spark: SparkSession
    lake: Lake
    suite: Suite | None
    path: str
    judgements: Judgements
    clock: Callable[[], int]
    passed: int = field(default=0)

    def check(self, runner: StageRunner, ticks: Mapping[int, Control]) -> None:
        """Judge the windows that have expired, as these ticks have made them. Raises GateFailed where it stops."""
        last = runner.last
        if self.suite is None or last is None or not ticks or self.passed == last.tick:
            return
        stage, until = runner.stage.shown, last.clock.expired_end
        rows = standing(self.spark, TickRange(runner.journal, ticks, fresh=True))
        shown = judged_columns(stage, where(rows, ended_in(MINUS_INFINITY, until)))
        result = judge(stage.name, LocatedRows.of_results(shown, [*stage.keys]), self.suite)
        generation = runner.journal.generation
        judged = Judged(STREAM_RUN, stage.name, self.path, self.clock(), generation, last.tick)
        about = {"generation": generation, "passed_until": MINUS_INFINITY if result.stops else until}
        about["is_new"] = result.stops
        audits = Audits.of(self.lake)
        self.judgements.settle(findings(self.lake, self.spark, STREAM_RUN).get(("gate", stage.name)))
        self.judgements.keep(
            judged, result, lambda found: audits.record(self.spark, STREAM_RUN, "gate", stage.name, {**found, **about})
        )
        if result.stops:
            raise GateFailed((result,), STREAM_RUN, _stays(result, generation))
        self.passed = last.tick
        point("generation:before_tables")


def _stays(result: GateResult, generation: int) -> str:
    return (
        f"the tables of {result.subject} go on showing the generation before, and generation {generation} waits; "
        f"windrow diff {{typed}} --stage {result.subject} --generation {generation} shows what would change"
    )
