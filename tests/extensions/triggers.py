"""Triggers of a user's own, for tests: each with its twin in the reference model, which is plain Python.

Transcripts name this module in `extensions`; the law strategies draw its triggers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import windrow
from tests.model.elements import Row
from tests.model.trigger_leaves import Moment, Node
from windrow.spec.aggregates import Aggregate, Max, Min
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import POSITIVE_DURATION, POSITIVE_INTEGER
from windrow.spec.fields.reading import of
from windrow.spec.triggers.all import Domain


class SpreadTwin(Node):
    """Ready when the values since the reset are far apart."""

    def __init__(self, node: AfterSpread) -> None:
        super().__init__(node)
        self.values: list[int] = []

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        values = [row.facts[Expression.parse("v")] for row in rows]
        self.values += [value for value in values if value is not None]

    def on_merge(self, parts: Sequence[Node], moment: Moment) -> None:
        super().on_merge(parts, moment)
        self.values = [value for part in parts for value in part.values]  # type: ignore[attr-defined]

    def ready(self, moment: Moment) -> bool:
        return bool(self.values) and max(self.values) - min(self.values) >= self.spec.spread


@windrow.register
@dataclass(frozen=True)
class AfterSpread(windrow.CustomTrigger):
    """Ready when the largest `v` since the reset is `spread` or more above the smallest."""

    NAME = "after_spread"
    BODY = "spread"
    STATE: ClassVar[Mapping[str, tuple[str, object]]] = {"low": ("bigint", None), "high": ("bigint", None)}
    TWIN = SpreadTwin

    spread: int = field(metadata=of(POSITIVE_INTEGER))

    @property
    def aggregates(self) -> Mapping[str, Aggregate]:
        return {"least": Min("v"), "most": Max("v")}

    def on_elements(self) -> Mapping[str, str]:
        return {"low": "least(low, least)", "high": "greatest(high, most)"}

    def ready(self) -> str:
        return f"high - low >= {self.spread}"

    def on_merge(self) -> Mapping[str, str]:
        return {"low": "min", "high": "max"}


class QuietTwin(Node):
    """Ready when nothing has come for a while; it finishes with its second firing."""

    def __init__(self, node: WhenQuiet) -> None:
        super().__init__(node)
        self.seen_at: int | None = None
        self.fired = 0

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        self.seen_at = moment.now

    def ready(self, moment: Moment) -> bool:
        return self.seen_at is not None and moment.now >= self.seen_at + self.spec.gap

    def on_fire(self, moment: Moment) -> None:
        self.fired += 1
        self.seen_at = None
        self.finished = self.fired == 2

    def deadlines(self, moment: Moment) -> Iterator[tuple[Domain | int, int]]:
        if self.seen_at is not None:
            yield Domain.PROCESSING_TIME, self.seen_at + self.spec.gap


@windrow.register
@dataclass(frozen=True)
class WhenQuiet(windrow.CustomTrigger):
    """Ready when `gap` of processing time has passed without an element; finished after two firings.

    A field has the name of something that every node has.
    """

    NAME = "when_quiet"
    STATE: ClassVar[Mapping[str, tuple[str, object]]] = {"ready": ("bigint", None), "fired": ("int", 0)}
    TWIN = QuietTwin

    gap: int = field(metadata=of(POSITIVE_DURATION))

    def on_elements(self) -> Mapping[str, str]:
        return {"ready": "now"}

    def ready(self) -> str:
        return f"now >= ready + {self.gap}"

    def on_fire(self) -> Mapping[str, str]:
        return {"ready": "null", "fired": "fired + 1"}

    def finished(self) -> str:
        return "fired + 1 = 2"

    def deadline(self) -> Mapping[Domain, str]:
        return {Domain.PROCESSING_TIME: f"ready + {self.gap}"}

    def words(self) -> str:
        return "when nothing has come for a while"
