"""How a source's watermark is made. Rule: docs/semantics.md#watermarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import DURATION, EXPRESSION, POSITIVE_DURATION
from windrow.spec.fields.reading import Kind, Spec
from windrow.spec.fields.typed import Converted, DurationLike, ExpressionLike, converted, plain, specification
from windrow.spec.times import INFINITY


def _accept_processing_time(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value == {}:
        return True
    raise SpecError("", "has no fields", value, "write processing_time: {}")


PROCESSING_TIME: Kind[bool, bool] = Kind(
    _accept_processing_time,
    _accept_processing_time,
    lambda value: {},
    forms.any_of(forms.FLAG_FORM, forms.fixed(type="object", maxProperties=0)),
)


UNBOUNDED = INFINITY
"""The `max_future` of a source that takes rows however far ahead they are: `none` in YAML."""


def _accept_bound(value: Any) -> int:
    return UNBOUNDED if value in (UNBOUNDED, "none") else DURATION.accept(value)


def _read_bound(value: Any) -> int:
    return UNBOUNDED if value == "none" else DURATION.read(value)


BoundLike = DurationLike | Literal["none"]
BOUND: Kind[int, BoundLike] = Kind(
    _accept_bound,
    _read_bound,
    lambda value: "none" if value == UNBOUNDED else DURATION.write(value),
    forms.any_of(forms.DURATION_FORM, forms.one_of(["none"])),
)
"""A duration, or `none`."""


@specification
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

    bounded_delay: Converted[int | None, DurationLike | None] = converted(DURATION, default=None)
    fixed_lag: Converted[int | None, DurationLike | None] = converted(DURATION, default=None)
    punctuated: Converted[Expression | None, ExpressionLike | None] = converted(EXPRESSION, default=None)
    processing_time: bool = plain(PROCESSING_TIME, default=False)
    idle_timeout: Converted[int | None, DurationLike | None] = converted(POSITIVE_DURATION, default=None)
    max_future: Converted[int | None, BoundLike | None] = converted(BOUND, default=None)

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
