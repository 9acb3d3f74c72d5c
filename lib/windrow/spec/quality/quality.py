"""The field `quality` of a source or a stage: its suite, and the columns whose values nobody is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from windrow.spec.fields import forms
from windrow.spec.fields.kinds import NAME, TEXT, list_of
from windrow.spec.fields.reading import Kind, Spec, form_of
from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.typed import Converted, converted, plain, specification


@specification
class Quality(Spec):
    """The path of a suite, and the columns of which judgements show no value, only a short hash of it."""

    YAML_HINTS = {"path": "suite", "file": "suite", "masked": "mask", "masks": "mask"}

    suite: str = plain(TEXT)
    mask: Converted[tuple[str, ...], Iterable[str]] = converted(list_of(NAME), default=())

    def check(self, columns: Iterable[str]) -> None:
        """Refuse a mask of what is no column. Errors: SpecError."""
        Schema({name: "" for name in columns}).require_all(self.mask, "mask")

    def at(self, suite: str) -> Quality:
        """The same with another path."""
        return replace(self, suite=suite)


def _accept(value: Any) -> Quality:
    if isinstance(value, Quality):
        return value
    return Quality.from_mapping(value) if isinstance(value, Mapping) else Quality(suite=TEXT.accept(value))


QualityLike = Quality | Mapping[str, Any] | str
QUALITY: Kind[Quality, QualityLike] = Kind(
    _accept,
    _accept,
    lambda quality: quality.to_mapping() if quality.mask else quality.suite,
    forms.any_of(forms.TEXT_FORM, form_of(Quality)),
)
"""A path alone is that of the suite."""
