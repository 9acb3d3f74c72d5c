"""A stream at work: one line a tick, and a summary in the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from windrow.spec.times import format_time
from windrow.view.text.times import many, moment

_WATERMARK = len("2013-01-01 05:00:00")
_TICKS, _SUMMED = "ticks", ("rows", "panes", "retracted", "late", "dead")
_HEADS = ("rows", "panes", "retracted", "late", "dead", "behind", "ms")


@dataclass(frozen=True)
class TickLine:
    """What one tick of a stage did. `watermark` in microseconds; `behind` landing batches that it had not yet read.

    `late` are pairs of element and window that came too late, `dead` rows that no window got.
    """

    stage: str
    tick: int
    kind: str
    rows: int
    watermark: int
    panes: int
    retracted: int
    late: int
    dead: int
    behind: int
    ms: int


@dataclass
class Ticks:
    """Lines as the ticks come: for people with a head over the columns, for machines one JSON object a line."""

    stages: Sequence[str]
    as_json: bool
    write: Callable[[str], None]
    sums: dict[str, Counter[str]] = field(default_factory=dict)
    """Of the ticks of each stage: a stream may run for months."""

    def show(self, line: TickLine) -> None:
        """Write one tick."""
        if self.as_json:
            self.write(json.dumps({**asdict(line), "watermark": format_time(line.watermark)}))
        else:
            if not self.sums:
                self.write(self._row("stage", "tick", "watermark", _HEADS))
            self.write(self._row(line.stage, str(line.tick), moment(line.watermark), self._numbers(line)))
        self.sums.setdefault(line.stage, Counter()).update(
            {_TICKS: 1, **{name: getattr(line, name) for name in _SUMMED}}
        )

    def end(self, stopped: bool) -> None:
        """Write what all the ticks did, by stage."""
        if self.as_json:
            return
        if not self.sums:
            self.write("stopped before anything came" if stopped else "nothing new")
            return
        self.write("")
        for stage in self.stages:
            if stage in self.sums:
                self.write(_summary(stage, self.sums[stage]))
        if stopped:
            self.write("stopped after the tick; the next run goes on from here")

    def _numbers(self, line: TickLine) -> Sequence[str]:
        return [f"{getattr(line, head):,}" for head in _HEADS]

    def _row(self, stage: str, tick: str, watermark: str, numbers: Sequence[str]) -> str:
        width = max(len("stage"), *map(len, self.stages))
        columns = "".join(f"{text:>{max(len(head), 6) + 2}}" for text, head in zip(numbers, _HEADS, strict=True))
        return f"{stage:<{width}}  {tick:>5}  {watermark:<{_WATERMARK}}{columns}"


def _summary(stage: str, sums: Counter[str]) -> str:
    ticks, rows, panes = many(sums[_TICKS], "tick"), many(sums["rows"], "row"), many(sums["panes"], "pane")
    ends = f"{many(sums['retracted'], 'retraction')}; {sums['late']:,} late, {sums['dead']:,} dead"
    return f"{stage}: {ticks}, {rows}, {panes} and {ends}"
