"""What a backfill or a restatement did, in words."""

from __future__ import annotations

from typing import Protocol

from windrow.view.times import many, moment, window


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
    def withdrawn(self) -> int: ...
    @property
    def tick(self) -> int | None: ...


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
    """One line: how many windows were recomputed, how many of them differed, and the tick of the commit."""
    text = f"{result.stage}: {many(result.windows, 'window')} recomputed: "
    if result.inserted + result.changed + result.withdrawn == 0:
        done = "nothing committed" if result.tick is None else f"late rows taken in, tick {result.tick}"
        return f"{text}no differences, {done}"
    kinds = f"{result.inserted:,} inserted, {result.changed:,} changed, {result.withdrawn:,} withdrawn"
    return f"{text}{kinds}; " + ("nothing committed (dry run)" if dry_run else f"tick {result.tick}")


def late_text(stage: str, rows: int, windows: int) -> str:
    """What there was to take in."""
    if rows == 0:
        return f"{stage}: no late rows to take in"
    return f"{stage}: {many(rows, 'late row')} in {many(windows, 'window')}, counted without their keys"


def waiting_text(stage: str, waits: Waits) -> str:
    """What could not be taken in yet, with the first window."""
    which = f"window {window(*waits.first)} has" if waits.windows == 1 else "windows have"
    named = "" if waits.windows == 1 else f", from {window(*waits.first)} up to {moment(waits.until)}"
    return f"{stage}: {many(waits.rows, 'late row')} wait until {which} expired in the stream{named}"
