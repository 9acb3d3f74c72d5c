"""How old the newest complete result of a stage may be."""

from __future__ import annotations

from enum import StrEnum

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import POSITIVE_DURATION
from windrow.spec.fields.reading import Spec
from windrow.spec.fields.typed import Converted, DurationLike, converted, specification
from windrow.spec.times import format_duration


class FreshnessLevel(StrEnum):
    """What is to be said of an age: it is as it should be, somebody should know, or it is an error."""

    FRESH = "fresh"
    WARN = "warn"
    ERROR = "error"


@specification
class Freshness(Spec):
    """How long ago, in microseconds, the newest complete window of a stage may have ended.

    Errors: neither of the two, or a warning that comes after the error.
    """

    YAML_HINTS = {"warning": "warn", "warn_after": "warn", "error_after": "error", "critical": "error"}

    warn: Converted[int | None, DurationLike | None] = converted(POSITIVE_DURATION, default=None)
    error: Converted[int | None, DurationLike | None] = converted(POSITIVE_DURATION, default=None)

    def validate(self) -> None:
        if self.warn is None and self.error is None:
            raise SpecError("", "must have warn, error or both", None, "{warn: 2h, error: 6h}")
        if self.warn is not None and self.error is not None and self.warn >= self.error:
            raise SpecError("error", "must be longer than warn", format_duration(self.error))

    def level(self, age: int | None) -> FreshnessLevel:
        """What is to be said of an age in microseconds; of None, where nothing is complete, the worst."""
        if self.error is not None and (age is None or age > self.error):
            return FreshnessLevel.ERROR
        if self.warn is not None and (age is None or age > self.warn):
            return FreshnessLevel.WARN
        return FreshnessLevel.FRESH
