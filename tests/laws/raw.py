"""Elements in plain words, in ticks behind whose watermarks nothing is late, and what stages over them are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from windrow.spec.fields.reading import Named
from windrow.spec.stages.inputs import Input, JoinKind
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.transcripts.steps import TranscriptElement
from windrow.spec.triggers.all import DEFAULT_TRIGGER, AfterCount, AfterWatermark, AtClose, Never, Repeat, Trigger

COLUMNS = {"k": "string", "g": "string", "v": "bigint"}
TRIGGERS: tuple[Trigger, ...] = (
    DEFAULT_TRIGGER, Repeat(AfterCount(1)), Repeat(AfterCount(2)), AtClose(), Never(),
    AfterWatermark(early=AfterCount(2), late=AfterCount(1)), AfterWatermark(late=AfterCount(2)),
)  # fmt: skip


@dataclass(frozen=True)
class Raw:
    """An element in plain words: its time in microseconds, and its columns."""

    at: int
    k: str
    g: str
    v: int
    input: str | None = None

    def element(self) -> TranscriptElement:
        return TranscriptElement(self.at, None, Named({"k": self.k, "g": self.g, "v": self.v}), self.input)


Bundles = Sequence[tuple[Sequence[Raw], int | None]]
"""The elements of each tick, and the watermark after it."""


@st.composite
def bundles(draw: st.DrawFn, lateness: int = 0, inputs: Sequence[str | None] = (None,)) -> Bundles:
    """Elements in any order, in ticks of any size, with watermarks behind which nothing is late; and the end of all."""
    raw = st.builds(
        Raw, st.integers(-5, 35).map(lambda second: second * SECOND), st.sampled_from("abc"), st.sampled_from("xy"),
        st.integers(-2, 3), st.sampled_from(inputs),
    )  # fmt: skip
    elements = draw(st.lists(raw, max_size=14))
    if draw(st.booleans()):
        elements.sort(key=lambda one: one.at)
    ticks: list[tuple[Sequence[Raw], int | None]] = []
    while elements or draw(st.booleans()):
        size = draw(st.integers(0, min(4, len(elements))))
        taken, elements = elements[:size], elements[size:]
        highest = min((one.at for one in elements), default=40 * SECOND) + lateness
        slack = draw(st.sampled_from([None, 0, 0, SECOND, 20 * SECOND]))
        ticks.append((taken, None if slack is None else highest - slack))
    return [*rising(ticks), ((), INFINITY)]


def rising(ticks: Bundles) -> Bundles:
    """The same with watermarks that never go back."""
    highest, made = MINUS_INFINITY, []
    for taken, watermark in ticks:
        highest = highest if watermark is None else max(highest, watermark)
        made.append((taken, None if watermark is None else highest))
    return made


def raws(ticks: Bundles) -> list[Raw]:
    return [one for taken, _ in ticks for one in taken]


def group_of(inputs: Mapping[str, Input], join: JoinKind | None = None, **shared: Any) -> Stage:
    """A stage over several inputs."""
    return Stage(**{**shared, "inputs": inputs, "join": join, "keys": Named(), "aggregates": Named()})
