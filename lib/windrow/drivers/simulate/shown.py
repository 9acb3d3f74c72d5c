"""What a specification shows over time, for a picture: its watermark, and its panes counted on a grid."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.triggers.clocks import NOW
from windrow.drivers.simulate.lives import Lives
from windrow.engine.clocks.clock import TickTimes
from windrow.view.pictures.against_arrival import Point, around, thinned
from windrow.view.pictures.values import PaneCount
from windrow.view.simulate.findings import Shown

COLUMNS, ROWS = 40, 30
"""Places of a grid: a picture is as wide as a phone."""


def shown_of(lives: Lives, name: str, times: Sequence[TickTimes], frame: tuple[int, int]) -> Shown:
    """Of a specification whose cells have lived through these ticks: of windows that end in the frame."""
    return Shown(name, thinned(around(_watermark(times), *frame)), _panes(lives, frame))


def _watermark(times: Sequence[TickTimes]) -> list[Point]:
    """Where it moves."""
    points = [(one.after.watermark, one.after.now) for one in times]
    return [
        point for before, point in zip([None, *points], points, strict=False) if before is None or before[0] < point[0]
    ]


def _panes(lives: Lives, frame: tuple[int, int]) -> list[PaneCount]:
    """The panes, by timing; those in one place of the grid stand where its last one is."""
    s, of = lives.name, lives.of
    found = lives.duck.execute(
        f"""WITH shown AS (
            SELECT timing, window_end, at_{NOW} AS shown_at FROM {s}.log JOIN {s}.ticks USING (tick)
            JOIN {of}.cells USING (cell) WHERE shows AND window_end BETWEEN ? AND ?),
        ends AS (SELECT min(window_end) AS e, max(window_end) + 1 - min(window_end) AS wide,
                        min(shown_at) AS n, max(shown_at) + 1 - min(shown_at) AS high FROM shown)
        SELECT timing, max(window_end), max(shown_at), count(*) FROM shown, ends
        GROUP BY timing, ({COLUMNS} * (window_end - e)::HUGEINT) // wide, ({ROWS} * (shown_at - n)::HUGEINT) // high
        ORDER BY 3, 2, 1""",
        list(frame),
    )
    return [PaneCount(*row) for row in found.fetchall()]
