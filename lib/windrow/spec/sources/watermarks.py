"""How a source's watermark is made. Rule: docs/semantics.md#watermarks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import DURATION, EXPRESSION, POSITIVE_DURATION
from windrow.spec.fields.reading import Kind, Spec, of
from windrow.spec.times import INFINITY


def _accept_processing_time(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value == {}:
        return True
    raise SpecError("", "has no fields", value, "write processing_time: {}")


PROCESSING_TIME = Kind(_accept_processing_time, _accept_processing_time, lambda value: {})


UNBOUNDED = INFINITY
"""The `max_future` of a source that takes rows however far ahead they are: `none` in YAML."""


def _accept_bound(value: Any) -> int:
    bound: int = value if value == UNBOUNDED else DURATION.accept(value)
    return bound


def _read_bound(value: Any) -> int:
    bound: int = UNBOUNDED if value == "none" else DURATION.read(value)
    return bound


BOUND = Kind(_accept_bound, _read_bound, lambda value: "none" if value == UNBOUNDED else DURATION.write(value))
"""A duration, or `none`."""


@dataclass(frozen=True)
class Watermark(Spec):
    """The watermark of a source partition: exactly one of four rules, and what holds for each of them.

    - `bounded_delay`: the largest event time seen in the partition, minus this delay.
    - `fixed_lag`: now minus this lag, whatever the elements say.
    - `punctuated`: the greatest that its elements assert, by an expression over their columns: a timestamp, or a whole
      number of microseconds since 1970. One that is null, fails, or is outside of the years 1 to 9999 asserts nothing.
    - `processing_time`: the event time is the arrival time, and the watermark is now.

    `idle_timeout`: after this much processing time without an element a partition holds the others back no more.
    `max_future`: an element further than this ahead of its arrival is a dead letter `future_timestamp`. What holds
    where it is not given says the source; of the rule itself it is no bound. All lengths are microseconds.
    """

    YAML_HINTS = {"delay": "bounded_delay", "lag": "fixed_lag", "out_of_orderness": "bounded_delay",
                  "punctuation": "punctuated"}  # fmt: skip

    bounded_delay: int | None = field(default=None, metadata=of(DURATION))
    fixed_lag: int | None = field(default=None, metadata=of(DURATION))
    punctuated: Expression | None = field(default=None, metadata=of(EXPRESSION))
    processing_time: bool = field(default=False, metadata=of(PROCESSING_TIME))
    idle_timeout: int | None = field(default=None, metadata=of(POSITIVE_DURATION))
    max_future: int | None = field(default=None, metadata=of(BOUND))

    def validate(self) -> None:
        rules = [rule is not None for rule in (self.bounded_delay, self.fixed_lag, self.punctuated)]
        if sum([*rules, self.processing_time]) != 1:
            hint = "for instance {bounded_delay: 10m, idle_timeout: 1h}"
            raise SpecError(
                "", "must have exactly one of bounded_delay, fixed_lag, punctuated, processing_time", None, hint
            )

    def held_back(self, by: int) -> Watermark:
        """The rule whose watermarks are that much smaller; assertions are made smaller where they are read."""
        if self.punctuated is not None:
            return self
        if self.bounded_delay is not None:
            return replace(self, bounded_delay=self.bounded_delay + by)
        return replace(self, fixed_lag=(self.fixed_lag or 0) + by, processing_time=False)

    @property
    def follows_clock(self) -> bool:
        """True where the watermark is a function of `now`, so that time alone moves it."""
        return self.bounded_delay is None and self.punctuated is None
