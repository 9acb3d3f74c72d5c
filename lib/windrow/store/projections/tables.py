"""The four tables of a stage, projected together.

Each applies the journal's steps after its own, all of them in one write, and holds the step that it is made up to in
the same commit. So they may lag behind the journal and catch up, and be rebuilt from it. Those of a new generation
are put in place of the old ones, each in one version, when the stage has reached the head of its upstream. A run of the
old generation goes on until then, and no further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from windrow.engine.frames import local
from windrow.engine.partitions import sized
from windrow.engine.tick.counters import Counters
from windrow.spec.errors import NewerGeneration
from windrow.spec.pipelines.column_comments import comments_of_current, comments_of_panes
from windrow.spec.pipelines.table_columns import STAGE_DEAD_LETTERS, TICKS
from windrow.store.delta.copy_on_write import Rewrite
from windrow.store.delta.location import Lake
from windrow.store.delta.log.step_log import StepLog
from windrow.store.journal.control import Control
from windrow.store.journal.journal import Journal
from windrow.store.projections.creation import ensure_table, schema_of, struct_of
from windrow.store.projections.current import write_current
from windrow.store.projections.dead_letters import write_dead_letters
from windrow.store.projections.panes import write_panes
from windrow.store.projections.tick_range import TickRange
from windrow.store.projections.ticks import write_ticks

Write = Callable[[SparkSession, StepLog, int, TickRange, Mapping[str, int]], int]

CURRENT = "current"
"""The table that is changed, and not only appended to: a write of it costs as much as a tick, and may apply many."""

WRITERS: Mapping[str, Write] = {
    "panes": write_panes,
    CURRENT: write_current,
    "dead_letters": write_dead_letters,
    "ticks": write_ticks,
}


def _log(lake: Lake, stage: str, name: str) -> StepLog:
    schema = struct_of(TICKS) if name == "ticks" else None  # it has gained columns since it was first made
    return StepLog(lake.table(stage, name), f"windrow-{name}-{stage}", schema=schema)


def shown_generations(spark: SparkSession, lake: Lake, stage: str) -> set[int]:
    """The generations that the tables of the stage show: two while one takes the place of the other."""
    commits = [_log(lake, stage, name).last(spark) for name in WRITERS]
    return {int(commit.notes["generation"]) for commit in commits if commit is not None}


def shown_generation(spark: SparkSession, lake: Lake, stage: str) -> int | None:
    """The newest generation that a table of the stage shows; None where no table shows any."""
    return max(shown_generations(spark, lake, stage), default=None)


@dataclass(frozen=True)
class Progress:
    """How far a table is: its own last step, and the journal's step that it is made up to.

    `fresh` says that what it holds is of another generation.
    """

    step: int
    journal_step: int
    fresh: bool


@dataclass
class Projections:
    """The tables of a stage. `session` makes sessions: a MERGE takes its step from the settings of its session."""

    spark: SparkSession
    lake: Lake
    journal: Journal
    session: Callable[[], SparkSession]
    after_write: Callable[[str], None] = lambda name: None
    _logs: dict[str, StepLog] = field(default_factory=dict)
    _sessions: dict[str, SparkSession] = field(default_factory=dict)
    _progress: dict[str, Progress] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stage = self.journal.stage.stage
        for name in WRITERS:
            self._logs[name] = _log(self.lake, stage.name, name)
            self._sessions[name] = self.spark if name in ("panes", "ticks") else self.session()

    def prepare(self) -> None:
        """Make the tables that are not there, and find out how far each is.

        Raises NewerGeneration where one shows a generation that was begun after that of this run.
        """
        schemas = self._schemas()
        with ThreadPoolExecutor(len(self._logs)) as pool:
            made = [pool.submit(ensure_table, self.spark, self._logs[name].location, schemas[name]) for name in WRITERS]
        for one in made:
            one.result()
        for name, log in self._logs.items():
            commit = log.last(self.spark)
            if commit is None:
                self._progress[name] = Progress(0, 0, not self._has_columns(log, schemas[name]))
            elif commit.notes["generation"] > self.journal.generation:
                stage = self.journal.stage.stage.name
                raise NewerGeneration(stage, self.journal.generation, commit.notes["generation"])
            elif commit.notes["generation"] != self.journal.generation:
                self._progress[name] = Progress(commit.step, 0, True)
            else:
                self._progress[name] = Progress(commit.step, commit.notes["journal_step"], False)

    def _has_columns(self, log: StepLog, schema: StructType) -> bool:
        """Whether a table to which nothing was written has these columns: it may be one of an older generation."""
        if self.journal.generation == 1:
            return True
        there = log.location.read(self.spark).schema
        return [(one.name, one.dataType.simpleString()) for one in there.fields] == [
            (one.name, one.dataType.simpleString()) for one in schema.fields
        ]

    def _schemas(self) -> dict[str, StructType]:
        stage, of_journal = self.journal.stage.shown, self.journal.schema(self.spark)
        return {
            "panes": schema_of(of_journal, comments_of_panes(stage)),
            CURRENT: schema_of(of_journal, comments_of_current(stage)),
            "dead_letters": struct_of(STAGE_DEAD_LETTERS),
            "ticks": struct_of(TICKS),
        }

    @property
    def projected_to(self) -> int:
        """The tick that every table is made up to."""
        return min(progress.journal_step for progress in self._progress.values())

    @property
    def appended_to(self) -> int:
        """The tick that every table but `current` is made up to."""
        return min(progress.journal_step for name, progress in self._progress.items() if name != CURRENT)

    @property
    def farthest_behind(self) -> str:
        """The table that is made up to the earliest tick."""
        return min(self._progress, key=lambda name: self._progress[name].journal_step)

    @property
    def is_rebuilt(self) -> bool:
        """Whether a table still holds another generation, to be replaced at the head."""
        return any(progress.fresh for progress in self._progress.values())

    def behind(self, tick: int) -> bool:
        """Whether any table is not made up to that tick."""
        return self.projected_to < tick

    def project(self, controls: Mapping[int, Control], refresh: bool = True) -> dict[int, Counters]:
        """Project every table up to the newest of these ticks; `current` only with `refresh`.

        Gives what those of the ticks counted that the other tables did not have. The controls must hold every tick that
        is missing in a table.
        """
        until, before = max(controls, default=0), self.appended_to
        lagging = [
            name
            for name, progress in self._progress.items()
            if progress.journal_step < until and (refresh or name != CURRENT)
        ]
        if not lagging:
            return {}
        with ThreadPoolExecutor(len(WRITERS)) as pool:
            futures = [pool.submit(self._write, name, controls) for name in lagging]
            for future in futures:
                future.result()
        return {tick: control.counters for tick, control in controls.items() if tick > before}

    def settle(self) -> None:
        """Write down how far the tables are that had nothing to apply, so that nobody looks there again.

        Errors: StepTaken where another writer has projected a table meanwhile.
        """
        for name, progress in self._progress.items():
            log = self._logs[name]
            commit = log.last(self.spark)
            if progress.fresh or (commit is not None and commit.notes["journal_step"] >= progress.journal_step):
                continue
            notes = {"journal_step": progress.journal_step, "generation": self.journal.generation}
            nothing = local(self.spark, [], log.location.read(self.spark).schema)
            log.append(nothing, progress.step + 1, notes)
            self._progress[name] = Progress(progress.step + 1, progress.journal_step, False)

    def rewrite(self, name: str, change: Rewrite) -> None:
        """Change rows of a table, in a step of its own: how far it is made stays.

        Raises StepTaken where another writer has projected it meanwhile.
        """
        log = self._logs[name]
        before = log.last(self.spark)
        if before is None:  # it has no rows
            return
        log.rewrite(self.spark, before.step + 1, before.notes, change)
        self._progress[name] = Progress(before.step + 1, before.notes["journal_step"], False)
        self.after_write(name)

    def _write(self, name: str, controls: Mapping[int, Control]) -> None:
        progress = self._progress[name]
        theirs = {tick: control for tick, control in controls.items() if tick > progress.journal_step}
        tick_range = TickRange(self.journal, theirs, progress.fresh, progress.step == 0)
        notes = {"journal_step": tick_range.until, "generation": self.journal.generation}
        session = self._sessions[name]
        with nullcontext() if session is self.spark else sized(session):
            step = WRITERS[name](session, self._logs[name], progress.step, tick_range, notes)
        self._progress[name] = Progress(step, tick_range.until, False)
        self.after_write(name)
