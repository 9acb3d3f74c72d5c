"""What a report tells of a run beside gates and balances: its steps, its stages, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from windrow.spec.times import HOUR, MINUTE, SECOND

REASONS = {
    "": "given to the stages", "rejected": "a rule of the suite", "unreadable": "not a row of the schema",
    "unreadable_file": "one for each file that could not be read",
    "bad_timestamp": "no event time that can be read", "future_timestamp": "too far ahead of its arrival",
    "quarantined": "its file was taken out", "bad_expression": "an expression failed on it",
    "bad_gap": "the gap of its session is no length of time", "late": "the window had expired",
    "closed": "the trigger had finished",
    "forgotten": "of a person who was forgotten",
    "removed": "removed by its age, and dead before",
}  # fmt: skip
"""What the reasons say why a row is in no result; none is that of a row that is alive."""


class State(StrEnum):
    """How a run, or the stream, stands."""

    STOPPED = "stopped"
    WAITING = "waiting"
    UNFINISHED = "unfinished"
    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    RUNNING = "running"

    @property
    def tone(self) -> str:
        """The class of its colour: good, wait or bad."""
        if self in (State.STOPPED, State.UNFINISHED):
            return "bad"
        return "wait" if self is State.WAITING else "good"


@dataclass(frozen=True)
class StageFigures:
    """What a run made of a stage's windows; None where it has not come so far. `tick` is None without a commit."""

    stage: str
    windows: int | None = None
    inserted: int | None = None
    changed: int | None = None
    retracted: int | None = None
    waiting: int | None = None
    tick: int | None = None

    @property
    def unchanged(self) -> int | None:
        """Those that the tables had already."""
        if self.windows is None or self.inserted is None or self.changed is None:
            return None
        return self.windows - self.inserted - self.changed


@dataclass(frozen=True)
class StepTime:
    """A step of a run about a source or a stage: when it was done, and how long after the one before it."""

    step: str
    subject: str
    at: int
    lasted: int | None = None


@dataclass(frozen=True)
class Attempt:
    """How a try of a step has ended: its exit code, and its message."""

    at: int
    exit_code: int
    message: str


@dataclass(frozen=True)
class NextStep:
    """A command to type, and what for."""

    command: str
    why: str


def lasted(micros: int) -> str:
    """A time span as people read it: `1 m 12 s`, `0.8 s`."""
    if micros < MINUTE:
        return f"{micros / SECOND:.1f} s"
    if micros < HOUR:
        return f"{micros // MINUTE} m {micros % MINUTE // SECOND:02} s"
    return f"{micros // HOUR} h {micros % HOUR // MINUTE:02} m"
