"""What is said of a window, part by part: titles with lines and tables, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windrow.spec.words import many
from windrow.view.explain.life import Life, LifePane, LifeTick, Relative
from windrow.view.text.table import cell
from windrow.view.text.times import moment, window

_MOST = 200
"""So many elements are shown one by one."""


@dataclass(frozen=True)
class Table:
    """Rows under the names of their columns."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Part:
    """A title with lines under it, or a table."""

    title: str
    lines: Sequence[str] = field(default_factory=list)
    table: Table | None = None


def headline(life: Life) -> str:
    """`departures_hourly, origin EWR, carrier UA, 2013-01-24 19:00 - 20:00`."""
    key = ", ".join(f"{name} {cell(value)}" for name, value in life.key.items())
    where = f"no window at {moment(life.at)}" if life.window is None else window(*life.window)
    return ", ".join(part for part in (life.stage, key, where) if part)


def answer(life: Life) -> list[str]:
    """How it stands, in a line or two: the pane that stands, and that the rows say the same, or do not."""
    standing = [pane for pane in life.panes if pane.weight > 0 or pane.change == "delete"]
    last = standing[-1] if standing else None
    if last is None:
        lines = ["no pane has been shown"]
    elif last.is_retraction:
        lines = [f"nothing stands: tick {last.tick} has retracted the last pane"]
    else:
        of = f", of {many(sum(element.is_counted for element in life.elements), 'element')}" if life.decided else ""
        results = ", ".join(f"{name} {cell(value)}" for name, value in last.value.items())
        lines = [f"{results}: pane {last.index} ({last.timing}), shown by tick {last.tick}{of}"]
    if life.differences:
        lines.append(f"{many(len(life.differences), 'difference')} between the rows and the journal, below")
    elif any(pane.computed for pane in life.panes):
        lines.append("the rows give the same")
    return lines


def parts(life: Life) -> Iterator[Part]:
    """All there is to be said, in order; parts that have nothing to say are left out."""
    every = [
        Part("Stands", answer(life)),
        Part("Rules", [f"{label}: {text}" for label, text in life.rules]),
        Part("Missing", life.missing),
        Part("Elements", table=_elements(life)),
        Part("Ticks", [line for tick in life.ticks for line in tick_lines(tick)]),
        Part("Panes", table=_panes(life.panes)),
        Part("Corrections", life.corrections),
        Part("Reads", _relatives(life.upstream)),
        Part("Read by", _relatives(life.behind)),
        Part("Other windows that hold the time", [window(*bounds) for bounds in life.others]),
        Part("Checked", life.checked),
        Part("Differences", life.differences),
        Part("Not known here", life.unknown),
    ]
    for part in every:
        if part.lines or (part.table is not None and part.table.rows):
            yield part


def _elements(life: Life) -> Table:
    """By tick, then event time."""
    shown = sorted(life.elements, key=lambda e: (e.tick is None, e.tick or 0, e.event_time or 0, e.step, e.row or 0))
    names = list(dict.fromkeys(name for element in shown for name in element.values))
    names = [name for name in names if {element.values.get(name, 1) for element in shown if element.values} != {1}]
    weighted = any(element.weight != 1 for element in shown)
    rows = []
    for element in shown[:_MOST]:
        place = element.place if not element.restated_by else f"{element.place}, restated by {element.restated_by}"
        values = [element.values.get(name) for name in names]
        read = [element.step, (element.offset or element.source).rpartition("/")[2]]
        times = [_moment(element.event_time), _moment(element.arrival_time)]
        rows.append([element.tick, *times, *([element.weight] if weighted else []), *values, place, *read])
    head = ["tick", "event time", "arrived", *(["weight"] if weighted else []), *names, "is", "step", "from"]
    return Table(head, rows)


def _moment(time: int | None) -> str | None:
    return None if time is None else moment(time)


def tick_lines(tick: LifeTick) -> list[str]:
    """`tick 12, at 2013-01-24 23:40, watermark 2013-01-24 20:01: 3 in the result`, and why below."""
    brought = ", ".join(f"{number:,} {place}" for place, number in tick.brought.items())
    kind = "" if tick.kind in ("stream", "") else f", {tick.kind}"
    head = f"tick {tick.tick}{kind}, at {moment(tick.processing_time)}, watermark {moment(tick.watermark)}"
    return [f"{head}: {brought}" if brought else head, *(f"  {line}" for line in tick.why)]


def _panes(panes: Sequence[LifePane]) -> Table:
    names = list(panes[0].value) if panes else []
    several = len({pane.window for pane in panes}) > 1
    rows = []
    for pane in panes:
        bounds = [window(*pane.window)] if several else []
        changed = ", ".join(f"{name} {cell(old)} -> {cell(new)}" for name, (old, new) in pane.changed.items())
        differs = "-" if not pane.computed else "no" if pane.differs else "yes"
        values = [pane.value[name] for name in names]
        rows.append(
            [pane.tick, *bounds, pane.change, pane.timing, pane.index, pane.trigger, *values, changed or None, differs]
        )
    head = ["tick", *(["window"] if several else []), "change", "timing", "pane", "trigger", *names, "changed",
            "as the rows"]  # fmt: skip
    return Table(head, rows)


def _relatives(relatives: Sequence[Relative]) -> list[str]:
    lines = []
    for one in relatives:
        lines.append(f"{one.stage}{_key(one.key)}, {window(*one.window)}")
        for pane in one.panes:
            results = ", ".join(f"{name} {cell(value)}" for name, value in pane.value.items())
            lines.append(f"  tick {pane.tick}: {pane.change}, {pane.timing}: {results}")
        if not one.panes:
            lines.append("  has shown nothing yet")
    return lines


def _key(key: Mapping[str, Any]) -> str:
    return "".join(f", {name} {cell(value)}" for name, value in key.items())
