"""How often a stream writes `current`: at most once in so long, or after every tick."""

from __future__ import annotations

from typing import Any

from windrow.spec.fields import forms
from windrow.spec.fields.kinds import POSITIVE_DURATION
from windrow.spec.fields.reading import Kind
from windrow.spec.fields.typed import DurationLike

EVERY_TICK = 0
"""The refresh of a pipeline whose `current` is written after every tick: `every tick` in YAML."""
_WORDS = "every tick"


def _accept(value: Any) -> int:
    return EVERY_TICK if value in (EVERY_TICK, _WORDS) else POSITIVE_DURATION.accept(value)


def _read(value: Any) -> int:
    return EVERY_TICK if value == _WORDS else POSITIVE_DURATION.read(value)


REFRESH: Kind[int, DurationLike] = Kind(
    _accept,
    _read,
    lambda value: _WORDS if value == EVERY_TICK else POSITIVE_DURATION.write(value),
    forms.any_of(forms.DURATION_FORM, forms.one_of([_WORDS])),
)
"""A duration, or `every tick`."""
