"""What a backfill or a restatement did, in words."""

from __future__ import annotations

from typing import Any, Protocol

from windrow.spec.times import INFINITY, MINUS_INFINITY, format_time
from windrow.view.text.times import many, moment, window


class WaitsForWatermark(Protocol):
    """Windows that have not expired; `first` and `last` are bounds, None where none of them has rows yet."""

    @property
    def stage(self) -> str: ...
    @property
    def windows(self) -> int: ...
    @property
    def first(self) -> tuple[int, int] | None: ...
    @property
    def last(self) -> tuple[int, int] | None: ...
    @property
    def until(self) -> int: ...
    @property
    def watermark(self) -> int: ...
    @property
    def held_by(self) -> str: ...
    @property
    def early(self) -> bool: ...


class Backfilled(Protocol):
    """Windows of one stage that were recomputed, and what differed; `tick` is None where nothing was committed."""

    @property
    def stage(self) -> str: ...
    @property
    def windows(self) -> int: ...
    @property
    def inserted(self) -> int: ...
    @property
    def changed(self) -> int: ...
    @property
    def retracted(self) -> int: ...
    @property
    def tick(self) -> int | None: ...
    @property
    def waiting(self) -> WaitsForWatermark | None: ...


class Waits(Protocol):
    """Late rows of windows that have not expired: the bounds of the first, and the end of the last."""

    @property
    def rows(self) -> int: ...
    @property
    def windows(self) -> int: ...
    @property
    def first(self) -> tuple[int, int]: ...
    @property
    def until(self) -> int: ...


def backfilled_text(result: Backfilled, dry_run: bool) -> str:
    """How many windows were recomputed, how many of them differed, and the tick of the commit; then what waits."""
    return _with_waiting(_done(result, dry_run), result)


def computed_text(result: Backfilled) -> str:
    """How many windows stand in the staging area: what differs is seen when they are published. Then what waits."""
    return _with_waiting(f"{result.stage}: {many(result.windows, 'window')} computed, not published yet", result)


def _with_waiting(done: str, result: Backfilled) -> str:
    return done if result.waiting is None else f"{done}\n{not_expired_text(result.waiting)}"


def backfilled_mapping(result: Backfilled) -> dict[str, Any]:
    """The same for machines; times in ISO 8601."""
    names = ("stage", "windows", "inserted", "changed", "retracted", "tick")
    waits = result.waiting
    waiting = (
        None
        if waits is None
        else {
            "windows": waits.windows,
            "first": None if waits.first is None else [format_time(at) for at in waits.first],
            "last": None if waits.last is None else [format_time(at) for at in waits.last],
            "until": format_time(waits.until),
            "watermark": format_time(waits.watermark),
            "held_by": waits.held_by,
            "early": waits.early,
        }
    )
    return {**{name: getattr(result, name) for name in names}, "waiting": waiting}


def not_expired_text(waits: WaitsForWatermark) -> str:
    """One line: the windows that have not expired, the watermark that they wait for, and what holds it back."""
    stands = "is not known" if waits.watermark == MINUS_INFINITY else f"stands at {moment(waits.watermark)}"
    until = "the end of time" if waits.until == INFINITY else moment(waits.until)
    if waits.first is None or waits.last is None:
        which = "the last windows of the interval have not expired"
    elif waits.windows == 1:
        which = f"window {window(*waits.first)} has not expired"
    else:
        which = f"{many(waits.windows, 'window')} from {window(*waits.first)} to {window(*waits.last)} have not expired"
    shown = "shown early" if waits.early else "not published"
    return f"{waits.stage}: {which}, {shown}: the watermark {stands}, waits for {until}, held back by {waits.held_by}"


def _done(result: Backfilled, dry_run: bool) -> str:
    text = f"{result.stage}: {many(result.windows, 'window')} recomputed: "
    if result.inserted + result.changed + result.retracted == 0:
        done = ", nothing committed" if result.tick is None else f"; tick {result.tick} notes what has been published"
        return f"{text}no differences{done}"
    kinds = f"{result.inserted:,} inserted, {result.changed:,} changed, {result.retracted:,} retracted"
    return f"{text}{kinds}; " + ("nothing committed (dry run)" if dry_run else f"tick {result.tick}")


def late_text(stage: str, rows: int, windows: int) -> str:
    """What there was to restate."""
    if rows == 0:
        return f"{stage}: no late rows to restate"
    return f"{stage}: {many(rows, 'late row')} in {many(windows, 'window')}, counted without their keys"


def waiting_text(stage: str, waits: Waits) -> str:
    """What could not be restated yet, with the first window."""
    which = f"window {window(*waits.first)} has" if waits.windows == 1 else "windows have"
    named = "" if waits.windows == 1 else f", from {window(*waits.first)} up to {moment(waits.until)}"
    return f"{stage}: {many(waits.rows, 'late row')} wait until {which} expired in the stream{named}"
