"""What trials share: the touches of their cells and the ticks of the history, read once for each kind of windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from windrow.compile.cells.own_ticks import OwnTicks
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import compile_trigger
from windrow.drivers.simulate.clocks import Arrived, times_of
from windrow.drivers.simulate.duck import load_touches, row_of
from windrow.drivers.simulate.history import History, compiled
from windrow.drivers.simulate.order import Order
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.simulation.trials import Trial
from windrow.spec.sources.source import Source
from windrow.spec.triggers.all import tick_aggregates

if TYPE_CHECKING:
    import duckdb

Span = tuple[int | None, int | None]
"""Windows that start in [first, last), in microseconds; None for no bound."""


@dataclass(frozen=True)
class Touches:
    """A schema of the database with the cells and touches of some windows, the stage that made them, and the ticks."""

    schema: str
    stage: CompiledStage
    ticks: Sequence[Arrived]


@dataclass
class Shared:
    """The touches of every trial, by its name. `rows` are those that were read."""

    duck: duckdb.DuckDBPyConnection
    history: History
    order: Order
    span: Span
    rows: int = 0
    _by_name: dict[str, Touches] = field(default_factory=dict)
    _by_kind: dict[str, Touches] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def read(
        cls,
        session: SparkSession,
        pipeline: Pipeline,
        source: Source,
        trials: Sequence[Trial],
        order: Order,
        span: Span,
        duck: duckdb.DuckDBPyConnection,
    ) -> Iterator[Shared]:
        """What these trials need of the history of a source. Errors: SpecError."""
        stages = {trial.name: compiled(session, source, trial) for trial in trials}
        with History.read(session, pipeline, source, order, stages.values()) as history:
            shared = cls(duck, history, order, span)
            for trial in trials:
                shared._add(trial, stages[trial.name])
            yield shared

    def of(self, trial: Trial) -> Touches:
        """The touches of a trial."""
        return self._by_name[trial.name]

    def adopt(self, trial: Trial, other: Trial) -> None:
        """A trial that has the windows of another one, and looks at nothing but the number of elements."""
        self._by_name[trial.name] = self.of(other)

    def own_ticks(self, trial: Trial) -> OwnTicks:
        """The cells of a trial."""
        cells = self.of(trial).stage.cells
        if cells.stage != trial.stage:
            looked_at = {name: cells.tree.aggregates[name] for name in tick_aggregates(trial.stage.trigger)}
            cells = replace(cells, stage=trial.stage, tree=compile_trigger(trial.stage.trigger, looked_at))
        return OwnTicks.of(cells)

    def window_of(self, trial: Trial) -> int:
        """How long its windows are, in the median."""
        text = f"SELECT coalesce(quantile_disc(window_end - window_start, 0.5), 0) FROM {self.of(trial).schema}.cells"
        return int(row_of(self.duck, text)[0])

    def expired_end(self, trial: Trial) -> int:
        """Windows that end by then have expired when the history ends."""
        *_, last = times_of(trial.stage, trial.watermark, self.of(trial).ticks)
        return last.after.expired_end

    def _add(self, trial: Trial, stage: CompiledStage) -> None:
        kind = _kind(trial)
        if kind not in self._by_kind:
            found, nowhere = self.history.statistics(stage)
            if not found:
                raise SpecError("", "has no row that says when it arrived", None, "windrow run --once lands rows")
            self.rows = nowhere + sum(one.counters.read for one in found.values())
            schema = f"touches_{len(self._by_kind) + 1}"
            load_touches(self.duck, schema, self.history.touches(stage, self.span))
            self._by_kind[kind] = Touches(schema, stage, list(self.order.ticks(found)))
        self._by_name[trial.name] = replace(self._by_kind[kind], stage=stage)


def _kind(trial: Trial) -> str:
    """Trials of which this is the same have the same touches, and the same rows move their clocks."""
    looked_at = {name: repr(one) for name, one in tick_aggregates(trial.stage.trigger).items()}
    rule = trial.watermark
    return repr((trial.stage.to_mapping().get("window"), sorted(looked_at.items()), rule.punctuated))
