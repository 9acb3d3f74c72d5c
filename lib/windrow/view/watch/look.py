"""What one look at a lake has seen, for whoever watches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from windrow.spec.stages.freshness import FreshnessLevel
from windrow.spec.times import HOUR, SECOND
from windrow.spec.words import in_units
from windrow.view.metrics import Standing
from windrow.view.status import SourceStatus, StageStatus
from windrow.view.text.times import about, moment
from windrow.view.watch.ticks import Rate, ReadingTick


class Tone(StrEnum):
    """Whether all is well, somebody waits, or somebody has to do something; the class of its colour on a page."""

    GOOD = "good"
    WAIT = "wait"
    BAD = "bad"


@dataclass(frozen=True)
class StoppedGate:
    """A gate of the stream that stops a stage; `is_new`: a new generation of it, and its tables show the old one."""

    stage: str
    is_new: bool = False


@dataclass(frozen=True)
class Look:
    """Where a pipeline stands, and by stage its last ticks, in order, and late rows that no restatement has counted.

    `typed` is how a command names the pipeline. `failure` says why a later look has seen nothing.
    """

    standing: Standing
    ticks: Mapping[str, Sequence[ReadingTick]] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)
    gates: Sequence[StoppedGate] = ()
    typed: str = "FILE"
    failure: str = ""

    @property
    def pipeline(self) -> str:
        return self.standing.pipeline

    @property
    def at(self) -> str:
        """When it was, to the second."""
        return moment(self.standing.now - self.standing.now % SECOND)

    @property
    def sources(self) -> Sequence[SourceStatus]:
        return self.standing.sources

    @property
    def stages(self) -> Sequence[StageStatus]:
        return self.standing.stages

    def ticks_of(self, stage: str) -> Sequence[ReadingTick]:
        return self.ticks.get(stage, ())

    def rate_of(self, stage: str) -> Rate | None:
        return Rate.of(self.ticks_of(stage))

    def commit_of(self, stage: StageStatus) -> str:
        """`committed 5s ago: 0.3 s planning, 1.2 s commit`; empty where nobody knows."""
        if stage.committed_at is None:
            return ""
        phases = self.standing.phases.get(stage.stage, {})
        parts = ", ".join(f"{seconds:.1f} s {name}" for name, seconds in phases.items())
        return f"committed {age(self.standing.now - stage.committed_at)} ago{f': {parts}' if parts else ''}"

    @property
    def headline(self) -> tuple[Tone, str]:
        """One sentence for all of it, which stays the same while nothing turns."""
        stopped = [gate.stage for gate in self.gates]
        old = [one.stage for one in self.stages if _is_too_old(one)]
        wrong = [one.stage for one in self.stages if one.tick is not None and not one.adds_up]
        behind = [one.stage for one in self.stages if one.batches_behind]
        new = [one.stage for one in self.stages if one.tick is None]
        if self.failure:
            return Tone.BAD, self.failure
        if stopped:
            return Tone.BAD, f"Stopped by the gate of {', '.join(stopped)}."
        if wrong:
            return Tone.BAD, f"The rows of {', '.join(wrong)} do not add up."
        if old:
            return Tone.BAD, f"The results of {', '.join(old)} are too old."
        if new:
            return Tone.WAIT, f"{', '.join(new)} {_has(new)} not run yet."
        if behind:
            return Tone.WAIT, f"{', '.join(behind)} {_has(behind)} rows to read."
        return Tone.GOOD, "Everything that has landed has been read."


def _is_too_old(stage: StageStatus) -> bool:
    return stage.freshness is not None and stage.freshness.level is FreshnessLevel.ERROR


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def units_of(stage: StageStatus) -> str:
    """What the stage reads: rows of a source, or panes of another stage."""
    return "panes" if stage.reads_a_stage else "rows"


def age(micros: int) -> str:
    """A length of time to the second, and above an hour to the minute; nothing is younger than now."""
    whole = max(0, micros) // SECOND * SECOND
    return in_units(whole) if whole < HOUR else about(whole)
