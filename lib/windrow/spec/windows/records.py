"""Record windows: around and behind every record, as in KIP-450. Rule: docs/semantics.md#record-windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import DURATION, POSITIVE_DURATION
from windrow.spec.fields.typed import Converted, DurationLike, converted, specification
from windrow.spec.windows.base import LONGEST, WindowFunction
from windrow.spec.words import length


@specification
class RecordWindows(WindowFunction):
    """For each record at `t` the windows `[t - difference, t]` and `[t + r, t + r + difference]`, bounds included.

    `r` is the resolution: times are taken down to a multiple of it, so windows are half-open with an end one `r` behind
    their last instant. A window exists only while it holds a record, so each distinct set of records has one.

    Errors: a difference below zero, one that is not a multiple of the resolution.
    """

    NAME = "record"
    MADE_BY_RECORDS = True
    YAML_HINTS: ClassVar[Mapping[str, str]] = {
        "time_difference": "difference", "size": "difference", "precision": "resolution", "grace": "allowed_lateness"
    }  # fmt: skip

    difference: Converted[int, DurationLike] = converted(DURATION)
    resolution: Converted[int, DurationLike] = converted(POSITIVE_DURATION, default=1)

    def validate(self) -> None:
        if self.difference > LONGEST:
            raise SpecError("difference", "must be at most 10,000 years of 365 days", f"{self.difference}us")
        if self.difference % self.resolution != 0:
            hint = "for instance {difference: 10s, resolution: 1ms}"
            raise SpecError("difference", "must be a multiple of the resolution", f"{self.difference}us", hint)

    @property
    def length(self) -> int:
        """How long every window is, from its start to its end."""
        return self.difference + self.resolution

    @property
    def one_task(self) -> str:
        return "the windows of a key are formed by one task, from a row for each time at which it has elements"

    @property
    def overlap(self) -> str | None:
        return "windows overlap: an element is in all that are around it"

    def words(self) -> str:
        grid = f", times taken down to {length(self.resolution)}" if self.resolution > 1 else ""
        return f"around each element: the {length(self.difference)} up to it, and those behind it{grid}"
