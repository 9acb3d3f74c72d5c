"""A stream at work: one line a tick, and a summary in the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from windrow.spec.times import format_time
from windrow.view.text.times import many, moment

_WATERMARK = len("2013-01-01 05:00:00")
_HEADS = ("rows", "panes", "withdrawn", "late", "dead", "behind", "ms")


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
    withdrawn: int
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
    seen: list[TickLine] = field(default_factory=list)

    def show(self, line: TickLine) -> None:
        """Write one tick."""
        if self.as_json:
            self.write(json.dumps({**asdict(line), "watermark": format_time(line.watermark)}))
        else:
            if not self.seen:
                self.write(self._row("stage", "tick", "watermark", _HEADS))
            self.write(self._row(line.stage, str(line.tick), moment(line.watermark), self._numbers(line)))
        self.seen.append(line)

    def end(self, stopped: bool) -> None:
        """Write what all the ticks did, by stage."""
        if self.as_json:
            return
        if not self.seen:
            self.write("stopped before anything came" if stopped else "nothing new")
            return
        self.write("")
        for stage in self.stages:
            lines = [line for line in self.seen if line.stage == stage]
            if lines:
                self.write(_summary(stage, lines))
        if stopped:
            self.write("stopped after the tick; the next run goes on from here")

    def _numbers(self, line: TickLine) -> Sequence[str]:
        return [f"{getattr(line, head):,}" for head in _HEADS]

    def _row(self, stage: str, tick: str, watermark: str, numbers: Sequence[str]) -> str:
        width = max(len("stage"), *map(len, self.stages))
        columns = "".join(f"{text:>{max(len(head), 6) + 2}}" for text, head in zip(numbers, _HEADS, strict=True))
        return f"{stage:<{width}}  {tick:>5}  {watermark:<{_WATERMARK}}{columns}"


def _summary(stage: str, lines: Sequence[TickLine]) -> str:
    rows, panes = sum(line.rows for line in lines), sum(line.panes for line in lines)
    withdrawn, late = sum(line.withdrawn for line in lines), sum(line.late for line in lines)
    dead = sum(line.dead for line in lines)
    text = f"{stage}: {many(len(lines), 'tick')}, {many(rows, 'row')}, {many(panes, 'pane')} and"
    return f"{text} {many(withdrawn, 'withdrawal')}; {late:,} late, {dead:,} dead"
