"""Sessions: windows of a key that merge where they overlap. Rule: docs/semantics.md#sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.expressions.plain import plain as plain_text
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import EXPRESSION, FLAG, POSITIVE_DURATION
from windrow.spec.fields.reading import Kind
from windrow.spec.fields.typed import Converted, DurationLike, converted, plain, specification
from windrow.spec.times import format_duration, parse_duration
from windrow.spec.windows.base import LONGEST, WindowFunction
from windrow.spec.words import length


def _accept(value: Any) -> int | Expression:
    return _of_text(value) if isinstance(value, str) else _of_value(value, POSITIVE_DURATION.accept)


def _read(value: Any) -> int | Expression:
    return _of_text(value) if isinstance(value, str) else _of_value(value, POSITIVE_DURATION.read)


def _of_value(value: Any, duration: Any) -> int | Expression:
    return value if isinstance(value, Expression) else int(duration(value))


def _of_text(text: str) -> int | Expression:
    """A length where the text is one, else an expression."""
    try:
        parse_duration(text)
    except SpecError:
        return EXPRESSION.read(text)
    return POSITIVE_DURATION.read(text)


GAP: Kind[int | Expression, DurationLike | Expression] = Kind(
    _accept,
    _read,
    lambda gap: gap.text if isinstance(gap, Expression) else format_duration(gap),
    forms.any_of(forms.DURATION_FORM, forms.EXPRESSION_FORM),
)


@specification
class Sessions(WindowFunction):
    """Stretches of activity: an element at `t` has the window `[t, t + gap)`, and windows of a key that overlap merge.

    A gap from the element is an expression, an interval or a number of seconds; it needs a `max_gap`, and an element
    whose gap is null, not positive or larger is a dead letter `bad_gap`. `merge_touching` merges windows that only
    touch too. `max_session` is how long the longest session is expected to be: a promise, not a cut.

    Errors: a gap that is not positive, an expression without `max_gap`, a length with one, a `max_session` below the
    gap.
    """

    NAME = "sessions"
    MERGES = True
    REASON = "bad_gap"
    YAML_HINTS: ClassVar[Mapping[str, str]] = {
        "timeout": "gap", "inactivity": "gap", "size": "gap", "max_length": "max_session"
    }  # fmt: skip

    gap: Converted[int | Expression, DurationLike | Expression] = converted(GAP)
    max_gap: Converted[int | None, DurationLike | None] = converted(POSITIVE_DURATION, default=None)
    max_session: Converted[int | None, DurationLike | None] = converted(POSITIVE_DURATION, default=None)
    merge_touching: bool = plain(FLAG, default=False)

    def validate(self) -> None:
        if isinstance(self.gap, Expression) and self.max_gap is None:
            rule = "is needed where the gap is an expression: how long a bound is kept follows from it"
            raise SpecError("max_gap", rule, None, "for instance max_gap: 2h")
        if not isinstance(self.gap, Expression) and self.max_gap is not None:
            raise SpecError("max_gap", "is for a gap from the element", f"{self.max_gap}us", "leave it out")
        if self.longest_gap > LONGEST:
            place = "gap" if self.max_gap is None else "max_gap"
            raise SpecError(place, "must be at most 10,000 years of 365 days", f"{self.longest_gap}us")
        if self.max_session is not None and not self.longest_gap <= self.max_session <= LONGEST:
            raise SpecError(
                "max_session", "must be at least the gap, and at most 10,000 years", f"{self.max_session}us"
            )

    @property
    def longest_gap(self) -> int:
        """The greatest length of the window of one element."""
        gap = self.gap if self.max_gap is None else self.max_gap
        assert isinstance(gap, int)
        return gap

    @property
    def expressions(self) -> Mapping[str, Expression]:
        return {"gap": self.gap} if isinstance(self.gap, Expression) else {}

    @property
    def overlap(self) -> str | None:
        return None

    def words(self) -> str:
        which = "overlap or touch" if self.merge_touching else "overlap"
        gap = self.gap
        lasts = length(gap) if isinstance(gap, int) else f"{plain_text(gap)}, at most {length(self.longest_gap)}"
        return f"sessions: an element's lasts {lasts}; those of a key that {which} become one"

    @property
    def one_task(self) -> str:
        each = f"{length(self.gap)} of its time" if isinstance(self.gap, int) else "time at which it has elements"
        return f"the sessions of a key are formed by one task, from a row for each {each}"

    @property
    def expected_length(self) -> int | None:
        return self.max_session

    def check_types(self, kinds: Mapping[str, str]) -> None:
        if "gap" in kinds and not _GAP_KIND.fullmatch(kinds["gap"]):
            hint = "seconds as a number, or an interval: if(vip, interval 1 hour, interval 5 minute)"
            raise SpecError("gap", "must be an interval of time or a number of seconds", kinds["gap"], hint)


_GAP_KIND = re.compile(
    r"tinyint|smallint|int|bigint|float|double|decimal\(.*|interval (day|hour|minute|second)( to .*)?|void"
)
