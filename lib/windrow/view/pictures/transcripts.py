"""A transcript as pictures, one for each of its stages. They show what the case expects: true of one that passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.spec.transcripts.cases import Case
from windrow.spec.transcripts.steps import Expected, Step, TranscriptElement
from windrow.view.pictures.drawing import svg
from windrow.view.pictures.values import Element, Pane, Picture, WatermarkPoint

_FINEST = 80
"""Ticks that are nearer to each other than one of so many parts of the whole cannot be told apart to scale."""


def drawings(case: Case) -> Iterator[tuple[str, str]]:
    """The name of each drawing, and its SVG; none where the case expects a refusal, or says nothing of a stage."""
    for stage, picture in zip(case.stages, pictures(case), strict=False):
        if picture.is_empty:
            continue
        name = f"{case.name} {stage.name}" if case.is_chain else case.name
        yield "-".join("".join(c if c.isalnum() else " " for c in name).split()), svg(picture)


def pictures(case: Case) -> list[Picture]:
    """One for each stage, in order; those behind the first have panes for elements, which are not drawn."""
    return [_Shown(case, stage, stage is case.stages[0]).picture for stage in case.stages if case.steps]


@dataclass(frozen=True)
class _Shown:
    """A stage of a case. Steps are ticks; processing times are those of the steps, if every step has one."""

    case: Case
    stage: Stage
    is_first: bool

    @property
    def picture(self) -> Picture:
        name = f"{self.case.name}: {self.stage.name}" if self.case.is_chain else self.case.name
        return Picture(
            name,
            elements=list(self._elements()) if self.is_first else (),
            watermark=list(self._watermark()) if self.is_first else (),
            panes=list(self._panes()),
            by_tick=not self.is_to_scale,
            clears=self.stage.is_discarding,
            note=self.case.why,
        )

    @property
    def is_to_scale(self) -> bool:
        """Whether the clock tells most ticks apart."""
        if self.case.steps[0].now is None:
            return False
        times = sorted(set(self._times))
        if len(times) < 3 or 3 * len(times) < 2 * len(self._times):
            return False
        return min(b - a for a, b in pairwise(times)) * _FINEST >= times[-1] - times[0]

    @property
    def _times(self) -> list[int]:
        """The processing time of each tick: it stays where a step does not say it."""
        times, now = [], 0
        for step in self.case.steps:
            now = now if step.now is None else step.now
            times.append(now)
        return times

    @property
    def _steps(self) -> Iterator[tuple[int, int, Step]]:
        """Each step with its tick and processing time."""
        for tick, (time, step) in enumerate(zip(self._times, self.case.steps, strict=True), 1):
            yield tick, time, step

    def _elements(self) -> Iterator[Element]:
        known = MINUS_INFINITY
        for tick, time, step in self._steps:
            dead = [letter.fields.get("at") for letter in step.dead]
            for one in step.add:
                if one.at is not None:
                    is_dead = one.at in dead
                    is_late = one.at < known and not is_dead
                    yield Element(one.at, time, tick, is_late, self._label(one), is_dead, self._key(one.columns))
            known = _after(step, known)

    def _watermark(self) -> Iterator[WatermarkPoint]:
        known = MINUS_INFINITY
        for tick, time, step in self._steps:
            moved = _after(step, known)
            if moved != known:
                yield WatermarkPoint(time, moved, tick)
            known = moved

    def _panes(self) -> Iterator[Pane]:
        for tick, time, step in self._steps:
            for pane in step.of(self.stage.name).expect or ():
                if "window" in pane.fields:
                    start, end = pane.fields["window"]
                    yield Pane(
                        start, end, time, tick, str(pane.fields.get("timing", "on_time")), self._value(pane),
                        _is_retraction(pane), self._key(pane.fields),
                    )  # fmt: skip

    def _key(self, fields: Mapping[str, Any]) -> str:
        """The keys as text: of an element those that are its own columns."""
        return ", ".join(plain(fields[name]) for name in self._keys if name in fields)

    @property
    def _keys(self) -> Sequence[str]:
        """Those keys that the elements have as columns by the same name, so that both can be told apart alike."""
        if not self.is_first:
            return list(self.stage.keys)
        columns = {name.lower() for name in self.case.schema}
        same = [name for name, e in self.stage.keys.items() if e.columns == (e.text.strip("`"),) == (name,)]
        return [name for name in same if name.lower() in columns]

    def _label(self, element: TranscriptElement) -> str:
        """Its partition and its columns but for the keys, which its panel has."""
        hidden = self._keys
        values = [plain(value) for name, value in element.columns.items() if name not in hidden and value is not None]
        return ", ".join([*([] if element.partition is None else [element.partition]), *values])

    def _value(self, pane: Expected) -> str:
        """Its results; the name is left out where there is only one."""
        keys = [plain(pane.fields[n]) for n in self.stage.keys if n not in self._keys and n in pane.fields]
        names = [name for name in self.stage.result_columns if name in pane.fields]
        if len(names) == 1:
            return ": ".join([*keys, plain(pane.fields[names[0]])])
        return ": ".join([*keys, ", ".join(f"{name} {plain(pane.fields[name])}" for name in names)])


def _after(step: Step, known: int) -> int:
    """The watermark after a step. What a step with `watermark_from` does not check is not known, and stays."""
    found = step.expect_watermark if step.watermark is None else step.watermark
    return known if found is None else found


def _is_retraction(pane: Expected) -> bool:
    return pane.fields.get("weight") == -1 or pane.fields.get("change") in ("update_preimage", "delete")


def plain(value: Any) -> str:
    """A value as people write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(plain(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
