"""How far stages are from the watermarks that a run waits for, and when their sources landed; read without Spark.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.location import Lake
from windrow.store.journal.control import CONTROL, Control, has_stream
from windrow.store.reading.generations import newest_generations
from windrow.store.reading.tables import Condition, Tables


@dataclass(frozen=True)
class WaitingStage:
    """A stage whose watermark stands at `watermark` and is to reach `until`; microseconds.

    `has_stream` says that a stream moves it, and not only batches. `newest` is the end of the newest window that people
    see, None where they see none.
    """

    stage: str
    until: int
    watermark: int = MINUS_INFINITY
    has_stream: bool = False
    newest: int | None = None

    @property
    def is_over(self) -> bool:
        return self.watermark >= self.until


@dataclass(frozen=True)
class LandedSource:
    """The newest landing step of a source, 0 before the first, and when it was committed, in microseconds."""

    source: str
    step: int = 0
    at: int | None = None


@dataclass(frozen=True)
class Waiting:
    """What a run waits for, as the lake tells it.

    `has_new` says that something has come since the last landing, or that nobody can tell.
    """

    stages: Sequence[WaitingStage]
    sources: Sequence[LandedSource]
    has_new: bool = True

    @property
    def is_over(self) -> bool:
        """Whether every watermark has come as far as it is to."""
        return all(stage.is_over for stage in self.stages)

    @property
    def is_left_to_streams(self) -> bool:
        """Whether streams move all watermarks that are still behind: nobody else has to land then."""
        return all(stage.has_stream for stage in self.stages if not stage.is_over)

    @property
    def may_move(self) -> bool:
        """Whether a landing may move a watermark that is still behind."""
        return self.has_new and not self.is_left_to_streams


def waiting_in(
    tables: Tables, lake: Lake, until: Mapping[str, int], sources: Sequence[Arrivals], before: Waiting | None = None
) -> Waiting:
    """What the newest control rows of these stages say, and the landing notes of these sources and what they read.

    What somebody else has landed since the look `before` is new too: no batch has read it.
    Raises NotReadable where the lake is one that only Spark reads, and SpecError for a journal of an earlier version.
    """
    generations = {name: one.number for name, one in newest_generations(tables, lake.internal("generations")).items()}
    stages = [_stage(tables, lake, name, generations.get(name), end) for name, end in until.items()]
    landed = [landed_source(tables, lake, arrivals.source) for arrivals in sources]
    has_landed = before is not None and [one.step for one in landed] != [one.step for one in before.sources]
    return Waiting(stages, landed, has_landed or any(arrivals.has_new for arrivals in sources))


def _stage(tables: Tables, lake: Lake, name: str, generation: int | None, until: int) -> WaitingStage:
    control = None if generation is None else newest_control(tables, lake, name, generation)
    if control is None:
        return WaitingStage(name, until)
    current = tables.open(lake.table(name, "current"))
    newest = None if current is None else current.greatest("window_end")
    return WaitingStage(name, until, control.clock.watermark, has_stream(control), newest)


def newest_control(tables: Tables, lake: Lake, stage: str, generation: int) -> Control | None:
    """The control row of the newest tick; files of older ones are not read."""
    place = lake.journal(stage, generation)
    journal = tables.open(place.location)
    last = 0 if journal is None else journal.last_step(place.app_id)
    if journal is None or last == 0:
        return None
    found = (Condition("tick", "=", last), Condition(LogColumn.KIND, "=", CONTROL))
    rows = [row for batch in journal.rows((LogColumn.CONTROL,), *found) for row in batch.to_pylist()]
    return Control.from_json(rows[0][LogColumn.CONTROL]) if rows else None


def landed_source(tables: Tables, lake: Lake, name: str) -> LandedSource:
    """The newest landing step of a source."""
    place = lake.raw(name)
    raw = tables.open(place.location)
    return LandedSource(name) if raw is None else LandedSource(name, raw.last_step(place.app_id), raw.stepped_at())
