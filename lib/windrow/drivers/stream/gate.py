"""The gate of a stage in the stream: its suite judges the windows that have expired since it last did."""

from __future__ import annotations

from windrow.drivers.inspect.findings import findings
from windrow.drivers.pipeline.new_generation import ended_in, judged_columns
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.engine.frames import where
from windrow.quality.gate import judge
from windrow.quality.located import LocatedRows
from windrow.spec.pipelines.loading import suite_path
from windrow.spec.quality.judgements import GateResult
from windrow.spec.times import MINUS_INFINITY
from windrow.store.journal.audits import STREAM_RUN, Audits
from windrow.store.projections.quality_results import Judged


def judge_expired(work: PipelineWork, item: StageWork) -> GateResult | None:
    """Judge what has expired and was not judged yet, as the stage shows it; None where that is nothing.

    Windows on which the gate stopped are judged again by the next run: they have not passed.
    """
    suite, last = work.suites.get(item.name), item.runner.last
    if suite is None or last is None:
        return None
    audits = Audits.of(work.lake)
    found = findings(work.lake, work.spark, STREAM_RUN).get(("gate", item.name))
    work.judgements.settle(found)
    generation, until = item.runner.journal.generation, last.clock.expired_end
    is_same = found is not None and found["generation"] == generation
    before = int(found["passed_until"]) if found is not None and is_same else MINUS_INFINITY
    if until <= before:
        return None
    stage = item.runner.stage.shown
    current = work.lake.table(stage.name, "current").read(work.spark)
    expired = where(current, ended_in(before, until))
    stopped = found is not None and is_same and GateResult.from_mapping(found).stops
    if expired.isEmpty() and not stopped:
        return None
    shown = judged_columns(stage, expired)
    result = judge(item.name, LocatedRows.of_results(shown, [*stage.keys]), suite)
    judged = Judged(STREAM_RUN, item.name, suite_path(work.pipeline, item.name), work.clock(), generation, last.tick)
    about = {"generation": generation, "passed_until": before if result.stops else until}
    work.judgements.keep(
        judged, result, lambda found: audits.record(work.spark, STREAM_RUN, "gate", item.name, {**found, **about})
    )
    return result
