"""Stages over a whole history, in a notebook: no lake and no tick, only the results and what is in none of them.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import overload

from pyspark.sql import DataFrame

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp, pane_rows
from windrow.compile.sql.columns import bigint, call, coalesce, col, lit
from windrow.compile.stage import CompiledStage
from windrow.drivers.recompute.publish.replacing import WAITS, all_inserted, transitions
from windrow.engine.compiling.chain import pane_elements, rows_of, with_windows_of
from windrow.engine.compiling.stage import InputRows, compile_stage
from windrow.engine.final import final_values
from windrow.engine.frames import apply, over, select, with_column
from windrow.engine.tick import dead_letters
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.inputs import as_one
from windrow.engine.tick.micro_batch import counters_of, with_statistics
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.testing.history import Frames, History, TimesOf, WeightsOf, of_pipeline, of_stage, of_stages


@overload
def panes(
    stages: Stage,
    frames: Frames,
    event_time: TimesOf | None = None,
    weight: WeightsOf | None = None,
) -> Panes: ...
@overload
def panes(
    stages: Pipeline | Sequence[Stage],
    frames: Frames,
    event_time: TimesOf | None = None,
    weight: WeightsOf | None = None,
) -> Mapping[str, Panes]: ...
def panes(
    stages: Stage | Pipeline | Sequence[Stage],
    frames: Frames,
    event_time: TimesOf | None = None,
    weight: WeightsOf | None = None,
) -> Panes | Mapping[str, Panes]:
    """The final result of every key and window over frames that are a whole history, as a backfill would give it.

    Of one stage it gives `Panes`; of a list of stages that read each other, or of a pipeline, the `Panes` of each by
    its name. `frames` is a frame; of a stage with several inputs a frame for each by the name of the input, and of
    stages over several sources one for each by the name of the source. `event_time` is the column that holds it, the
    name of a timestamp column or a `TimeColumn`: `event_time` where it is not given. `weight` is a column of +1 and -1,
    if rows can be taken back. Both may be given for each frame by its name; the sources of a pipeline say theirs.

    Nothing is run before a frame of the result is. Errors: SpecError.
    """
    if isinstance(stages, Pipeline):
        for name, given in (("event_time", event_time), ("weight", weight)):
            if given is not None:
                raise SpecError(name, "is not for a pipeline, whose sources say theirs", given, "leave it out")
        return _panes(of_pipeline(stages, frames))
    if isinstance(stages, Stage):
        (only,) = _panes(of_stage(stages, frames, event_time, weight)).values()
        return replace(only, name=stages.name)
    return _panes(of_stages(stages, frames, event_time, weight))


@dataclass(frozen=True)
class Panes:
    """What a batch over a whole history makes of one stage: every row of it is in a result, counted or a dead letter.

    `name` is that of the stage. The frames are made when they are asked for, and run when somebody looks at them.
    """

    name: str
    _stage: CompiledStage = field(repr=False)
    _rows: Mapping[str, DataFrame] = field(repr=False)
    _reads: Mapping[str, Source | Stage] = field(repr=False)

    @cached_property
    def results(self) -> DataFrame:
        """A row for each key and window: keys, `window_start`, `window_end`, aggregates and derived columns.

        Of a join there is a row for each pair of rows in a window, with its number in `row`.
        """
        stage, made = self._stage.shown, self._transitions
        clock = {"watermark": bigint(INFINITY), "now": bigint(MINUS_INFINITY)}
        rows = pane_rows(stage, over(made).with_columns(clock))
        return apply(rows.only((*stage.keys, "window_start", "window_end", *stage.result_columns)), made)

    @cached_property
    def dead_letters(self) -> DataFrame:
        """The rows that are in no result, each once, with the reason.

        Columns: `reason`, `rule`, `event_time`, `window_start` and `window_end` (null, as a row in no window is late
        for none), `element` (the row as JSON) and `source` (what the row was read from).
        """
        return reduce(lambda one, other: one.unionByName(other), [self._letters(name) for name in self._rows])

    def counts(self) -> Mapping[str, int]:
        """Where the rows are, and the pairs of row and window, by number; this runs a job for each input.

        `read` rows are `dead` (in what was read), `bad_expression` (`bad_gap` are some of these), `filtered` by `where`
        or `kept`. Of those that were kept, `unassigned` ones are in no window. `assigned` counts pairs, none of which
        is late. With `explode`, what counts as a row is an item.
        """
        counted = counters_of(with_statistics(self._stage, self._rows, Admission())).known_at_commit
        return {name: number for name, number in counted.items() if name != "late"}

    @cached_property
    def _transitions(self) -> DataFrame:
        """What a batch that has nothing to take the place of would commit."""
        rows = as_one(self._rows, [*self._rows])
        windows = with_column(final_values(self._stage, rows), WAITS, lit(False))
        made = transitions(self._stage, all_inserted(self._stage, windows), streams=False, watermark=INFINITY)
        return with_column(made, "tick", bigint(0))

    @property
    def _as_rows(self) -> DataFrame:
        """The panes as the rows of a stage that reads this one."""
        return pane_elements(self._stage, self._transitions)

    def _letters(self, name: str) -> DataFrame:
        """Those of one input."""
        stage, rows, read = self._stage.of_input(name), self._rows[name], self._reads[name]
        found = _in_words(dead_letters.failed(stage, apply(stage.elements.judged(over(rows)), rows)), read.name)
        if isinstance(read, Source):
            found = found.unionByName(_in_words(dead_letters.at_landing(rows), read.name))
        return found


def _in_words(letters: DataFrame, source: str) -> DataFrame:
    """Dead letters as the table of that name has them."""
    as_json = call("to_json", col(dead_letters.ELEMENT), call("map", "timeZone", "UTC"))
    columns = {
        "reason": col("reason"),
        "rule": coalesce(col(envelope.RULE), dead_letters.rule_of(col("reason"))),
        "event_time": as_timestamp(col("event_time")),
        "window_start": as_timestamp(col(WINDOW_START)),
        "window_end": as_timestamp(col(WINDOW_END)),
        "element": coalesce(col(envelope.RAW), as_json),
        "source": lit(source),
    }
    return select(letters, columns)


def _panes(history: History) -> dict[str, Panes]:
    """Those of every stage, in their order."""
    pipeline, made = history.pipeline, dict[str, Panes]()
    rows = {source.name: history.rows(source) for source in pipeline.sources}
    session = next(iter(rows.values())).sparkSession
    for stage in pipeline.stages:
        reads = pipeline.upstreams_of(stage)
        upstreams = {name: made[one.name] for name, one in reads.items() if not isinstance(one, Source)}
        given = {
            name: InputRows(rows[one.name], one.size, one.weight) if isinstance(one, Source) else
            rows_of(session, stage, upstreams[name]._stage)
            for name, one in reads.items()
        }  # fmt: skip
        compiled = compile_stage(with_windows_of(stage, [one._stage for one in upstreams.values()]), given)
        of_inputs = {
            name: rows[one.name] if isinstance(one, Source) else upstreams[name]._as_rows for name, one in reads.items()
        }
        made[stage.name] = Panes(stage.name, compiled, of_inputs, reads)
    return made
