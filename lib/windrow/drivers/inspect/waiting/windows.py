"""Windows that a run waits for, and the error that names them.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.engine.tick.published import Span
from windrow.spec.errors import WindowsWait
from windrow.view.backfill import not_expired_text


@dataclass(frozen=True)
class WaitingWindows:
    """Windows of a stage that wait. Times are microseconds.

    `windows` counts those that have rows, from `first` to `last` (their bounds; None without one). All have expired
    when the watermark, which stands at `watermark`, reaches `until`; `held_by` names what holds it back. `early` says
    that they are shown meanwhile, `is_by_clock` that a schedule waits for them: not for the window of all time, nor for
    windows over panes that no batch has published, which wait for another batch.
    """

    stage: str
    windows: int
    first: Span | None
    last: Span | None
    until: int
    watermark: int
    held_by: str
    early: bool = False
    is_by_clock: bool = True


def wait_for(waiting: Sequence[WaitingWindows]) -> WindowsWait:
    """The error that names them all."""
    return WindowsWait("; ".join(map(not_expired_text, waiting)), {one.stage: one.until for one in waiting})
