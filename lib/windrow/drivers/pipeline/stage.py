"""A stage at work: its runner, and the tables that are projected behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from windrow.drivers.pipeline.new_generation import NewGeneration
from windrow.drivers.pipeline.runner import StageRunner
from windrow.drivers.pipeline.spans import span
from windrow.engine.tick.counters import Counters
from windrow.spec.errors import NotYet, SpecError
from windrow.store.delta.floors import Floors, journal_floor
from windrow.store.delta.log.retries import ATTEMPTS, StepTaken, tried_again
from windrow.store.journal.control import FOLLOW, STREAM, Control
from windrow.store.journal.generations import Generations
from windrow.store.projections.tables import Projections, shown_generations


@dataclass
class StageWork:
    """A stage with what brings it forward. `pending` are the control rows of ticks that some table lacks.

    `new_generation` is the gate before tables of another generation are replaced.
    """

    runner: StageRunner
    projections: Projections
    new_generation: NewGeneration
    pending: dict[int, Control] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.runner.stage.stage.name

    def catch_up(self) -> None:
        """Project the tables up to the head of the journal.

        Those of another generation wait until the stage has reached the head of its upstream.
        """
        self.migrate()
        self._look()
        if not self.projections.is_rebuilt:
            self.project()

    def check_settled(self) -> None:
        """Raises NotYet where two generations of the stage are at work: the tables show the older one."""
        spark, lake, own = self.runner.spark, self.projections.lake, self.runner.journal.generation
        newest = Generations.of(lake).all(spark).get(self.name)
        shown = shown_generations(spark, lake, self.name)
        if shown - {own} or (newest is not None and newest.number > own):
            hint = "let the stream of the newer one come to the end of what has landed"
            raise NotYet(f"stages.{self.name}", "has a generation that the tables do not show yet", None, hint)

    def migrate(self) -> None:
        """What a smaller allowed lateness has left, before anything is read of it."""
        self.ticked(tried_again(self.runner.take_over_cells, self.runner.reload))

    def _look(self) -> None:
        """Read how far the projections are, and what they lack."""
        self.projections.prepare()
        last = self.runner.last
        self.pending = {}
        if last is not None and self.projections.behind(last.tick):
            self._check_kept()
            after = self.projections.projected_to
            is_one = after + 1 == last.tick
            self.pending = (
                {last.tick: last} if is_one else self.runner.journal.controls(self.runner.spark, after, last.tick)
            )

    def _check_kept(self) -> None:
        """Errors: SpecError where the journal no longer holds what a table lacks."""
        journal, projected_to = self.runner.journal, self.projections.projected_to
        floor = Floors.of(self.projections.lake).get(self.runner.spark, journal_floor(self.name, journal.generation))
        if projected_to < floor:
            raise SpecError(
                f"stages.{self.name}",
                f"has a table that must be made again, and maintenance has dropped what the ticks up to {floor} did",
                f"{self.projections.farthest_behind}, made up to tick {projected_to}",
                "run with --from-start: a new generation, rebuilt from raw, which is kept whole",
            )

    def tick(self, advance: Callable[[], Control | None]) -> Control | None:
        """Make a tick and keep its control row. Where a backfill has committed meanwhile, the tick is computed again
        behind it.

        A stage that opens behind batches looks into its tables, so they are projected first. Errors: StepTaken when a
        second stream is at work.
        """
        with span("tick", stage=self.name) as tell:
            control = self._tick(advance)
            if control is not None:
                tell(tick=control.tick, kind=control.kind, rows=control.counters.read, panes=control.counters.panes)
            return control

    def _tick(self, advance: Callable[[], Control | None]) -> Control | None:
        if self.runner.opens:
            self.project()
        attempts = 0
        while attempts < ATTEMPTS:
            try:
                return self.ticked(advance())
            except StepTaken:
                kinds = {control.kind for control in self.runner.reload()}
                if STREAM in kinds:
                    raise
                attempts += FOLLOW not in kinds  # with such a tick the stage has come further
                self._look()
                if self.runner.opens:
                    self.project()
        return self.ticked(advance())

    def ticked(self, control: Control | None) -> Control | None:
        """Keep the control row of a tick that was committed."""
        if control is not None:
            self.pending[control.tick] = control
        return control

    def project(self, refresh: bool = True) -> dict[int, Counters]:
        """Project the tables up to the last tick, `current` only with `refresh`; what each of these ticks counted.

        Another writer may do the same at the same time. Raises GateFailed before a new generation takes the place of
        the one that the tables show.
        """
        self.check_generation()
        with span("project", stage=self.name):
            return tried_again(lambda: self._project(refresh), self._look)

    def check_generation(self) -> None:
        """Judge a new generation that the tables do not show yet. Raises GateFailed where its gate stops.

        Raises SpecError where another run has gone back to the one before, as rows have gone by their age.
        """
        if self.projections.is_rebuilt:
            newest = Generations.of(self.projections.lake).all(self.runner.spark).get(self.name)
            if newest is not None and newest.number < self.runner.journal.generation:
                rule = f"has generation {newest.number} again, as rows were removed from which this one is built"
                raise SpecError(f"stages.{self.name}", rule, self.runner.journal.generation)
            self.new_generation.check(self.runner, self.pending)

    def _project(self, refresh: bool) -> dict[int, Counters]:
        counted = self.projections.project(self.pending, refresh)
        self.pending = {tick: one for tick, one in self.pending.items() if tick > self.projections.projected_to}
        return counted
