"""Named points between two writes, at which a test can have the process killed. They do nothing else."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_VARIABLE = "WINDROW_KILL_AT"
_passed: Counter[str] = Counter()
_watch: Callable[[str], None] | None = None

POINTS = (
    "landing:before_raw",
    "landing:after_raw",
    "tick:before_journal",
    "tick:after_journal",
    "generation:after_record",
    "generation:before_tables",
    "projection:after_panes",
    "projection:after_current",
    "projection:after_dead_letters",
    "projection:after_ticks",
    "source:after_dead_letters",
    "source:after_landings",
    "compact:before_snapshot",
    "compact:after_snapshot",
    "quarantine:before_raw",
    "quarantine:after_raw",
    "forget:after_keyed",
    "forget:before_raw",
    "forget:after_raw",
    "forget:after_cells",
    "forget:after_letters",
    "forget:before_journal",
    "forget:after_journal",
    "forget:after_tables",
    "forget:after_stages",
    "forget:after_audits",
    "forget:after_blank",
    "forget:after_sources",
    "admission:before_journal",
    "admission:after_journal",
    "opening:before_retraction",
    "opening:after_retraction",
    "gate:after_audits",
    "backfill:after_staging",
    "backfill:before_journal",
    "backfill:after_journal",
    "maintain:after_compact",
    "maintain:after_places",
    "maintain:before_drop",
    "maintain:after_drop",
    "maintain:after_compaction",
    "maintain:after_vacuum",
    "maintain:after_log",
    "erase:after_folders",
    "erase:after_history",
    "retention:after_floor",
    "retention:after_rows",
    "retention:after_journal",
    "step:after_land",
    "step:after_gate_rows",
    "step:after_compute",
    "step:after_gate_results",
    "step:after_publish",
)


def point(name: str) -> None:
    """Kill the whole process group with -9 if the variable says `name` or `name#n` and this is the n-th time here."""
    if _watch is not None:
        _watch(name)
    wanted = os.environ.get(_VARIABLE)
    if not wanted:
        return
    _passed[name] += 1
    where, _, times = wanted.partition("#")
    if where == name and _passed[name] == int(times or 1):
        os.killpg(os.getpgrp(), signal.SIGKILL)


@contextmanager
def watched(watch: Callable[[str], None]) -> Iterator[None]:
    """Tell `watch` of every point that any thread passes meanwhile. What it raises comes up from the point."""
    global _watch
    before, _watch = _watch, watch
    try:
        yield
    finally:
        _watch = before
