"""A run with all that can become of a row: early, on time, late in time, late, filtered, and of another key."""

from __future__ import annotations

from typing import Any

from tests.laws.strategies import Run, TickInput
from windrow.spec.aggregates import Count, Sum
from windrow.spec.fields.reading import Named
from windrow.spec.stages.stage import Stage
from windrow.spec.times import SECOND
from windrow.spec.transcripts.cases import TranscriptElement
from windrow.spec.triggers.all import AfterCount, AfterWatermark
from windrow.spec.windows.aligned import FixedWindows


def element(second: float, v: int = 1, k: str = "a") -> TranscriptElement:
    columns: dict[str, Any] = {"k": k, "v": v, "d": None, "x": None, "s": None, "many": None, "w": 1}
    return TranscriptElement(int(second * SECOND), None, Named(columns))


STAGE = Stage(
    name="stage",
    keys=["k"],
    window=FixedWindows(10 * SECOND),
    trigger=AfterWatermark(AfterCount(2), AfterCount(1)),
    accumulation="retracting",
    allowed_lateness=5 * SECOND,
    where="v > 0",
    aggregates={"n": Count(), "total": Sum("v")},
)

LATE_RUN = Run(
    STAGE,
    (
        TickInput((element(1, 5),), 10 * SECOND, 0),
        TickInput((element(2, 6), element(3, -1)), 20 * SECOND, 4 * SECOND),
        TickInput((element(9, 7),), 30 * SECOND, 11 * SECOND),
        TickInput((element(4, 8),), 40 * SECOND, 16 * SECOND),
        TickInput((element(5, 9),), 50 * SECOND, 17 * SECOND),
    ),
)
"""One window of the key `a`: two early elements, one filtered, one on time, one late in time, one dead as late."""
