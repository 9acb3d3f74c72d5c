"""How long a lake keeps what is in it."""

from __future__ import annotations

import re
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import POSITIVE_DURATION
from windrow.spec.fields.reading import Kind, Spec
from windrow.spec.fields.typed import Converted, DurationLike, converted, specification
from windrow.spec.times import format_duration

_YEARS = re.compile(r"\s*(\d+)\s*y\s*")


def _with_years(value: Any) -> Any:
    """A number of years in days, 365 each; anything else as it is."""
    years = _YEARS.fullmatch(value) if isinstance(value, str) else None
    return value if years is None else f"{365 * int(years[1])}d"


KEPT_FOR: Kind[int, DurationLike] = Kind(
    lambda value: POSITIVE_DURATION.accept(_with_years(value)),
    lambda value: POSITIVE_DURATION.read(_with_years(value)),
    POSITIVE_DURATION.write,
    forms.any_of(forms.DURATION_FORM, forms.fixed(type="string", pattern=r"^\s*\d+\s*y\s*$")),
)
"""A duration, or a number of years: `2y`."""


@specification
class Retention(Spec):
    """For how long, in microseconds, rows of `raw`, of `panes` and of dead letters are kept; None is for good.

    Panes and dead letters are kept as long as `raw` at least: a window whose rows are there can be recomputed, which
    takes back its panes, and leaves out or restates its late rows. Errors: none of the three, or one that breaks this.
    """

    YAML_HINTS = {"landings": "raw", "current": "panes", "dead": "dead_letters", "rows": "raw"}

    raw: Converted[int | None, DurationLike | None] = converted(KEPT_FOR, default=None)
    panes: Converted[int | None, DurationLike | None] = converted(KEPT_FOR, default=None)
    dead_letters: Converted[int | None, DurationLike | None] = converted(KEPT_FOR, default=None)

    def validate(self) -> None:
        if self.raw is None and self.panes is None and self.dead_letters is None:
            raise SpecError("", "must have raw, panes or dead_letters", None, "{raw: 90d, panes: 2y, dead_letters: 1y}")
        for name, kept in (("panes", self.panes), ("dead_letters", self.dead_letters)):
            if kept is None:
                continue
            if self.raw is None:
                hint = "a window whose rows are kept can be recomputed, and needs them then: give raw too"
                raise SpecError(
                    name, "must not be shorter than raw, which is kept for good", format_duration(kept), hint
                )
            if kept < self.raw:
                raise SpecError(
                    name,
                    "must not be shorter than raw",
                    format_duration(kept),
                    f"raw is kept for {format_duration(self.raw)}",
                )
