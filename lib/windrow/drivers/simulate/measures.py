"""What is measured of the lives of cells. Rule: docs/simulate.md#the-figures.

The measured windows are those that have expired for every specification that is tried: of others nobody knows yet what
they will have shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from windrow.compile.triggers.clocks import NOW, WATERMARK
from windrow.drivers.simulate.duck import row_of
from windrow.spec.times import SECOND
from windrow.view.simulate.findings import AGES, Findings, Spread

if TYPE_CHECKING:
    import duckdb

    from windrow.drivers.simulate.lives import Lives


@dataclass(frozen=True)
class Measured:
    """The windows that are measured: those that end by then."""

    until: int

    def number(self, duck: duckdb.DuckDBPyConnection, of: str) -> tuple[int, int]:
        """How many cells are measured, and how many are not."""
        text = f"SELECT count(*) FILTER (window_end <= ?), count(*) FILTER (window_end > ?) FROM {of}.cells"
        measured, unmeasured = row_of(duck, text, [self.until, self.until])
        return measured, unmeasured

    def complete_by_age(self, duck: duckdb.DuckDBPyConnection, of: str) -> list[tuple[int, float]]:
        """The share of the windows of which all elements had arrived, by the age of their end in seconds."""
        counts = ", ".join(f"count(*) FILTER (last_arrival <= window_end + {age * SECOND})" for age in AGES)
        number, *found = row_of(duck, f"SELECT count(*), {counts} FROM {of}.cells WHERE window_end <= ?", [self.until])
        return [(age, one / number) for age, one in zip(AGES, found, strict=True)] if number else []


def measure(lives: Lives, measured: Measured, name: str, rows: int, evaluated: int) -> Findings:
    """The findings of a specification whose cells have lived. `rows` are those that were read.

    A window is first shown as complete by its pane on time. Where there is none, as nothing was new when the watermark
    reached its end, it is by the early pane that stood then; and where there is none of these, by its first late one.
    """
    duck, s, of = lives.duck, lives.name, lives.of
    on_time, not_early = "FILTER (shows AND timing = 'on_time')", "FILTER (shows AND timing <> 'early')"
    stood = "FILTER (shows AND tick <= complete_at)"
    duck.execute(
        f"""CREATE OR REPLACE TABLE {s}.windows AS
        WITH complete AS (
            SELECT cell, window_end, total, tick AS complete_at
            FROM {of}.cells ASOF LEFT JOIN {s}.reaches_{WATERMARK} ON window_end <= value WHERE window_end <= ?)
        SELECT cell, any_value(window_end) AS window_end, any_value(total) AS total,
               min(at_now) FILTER (shows) AS first_at,
               coalesce(min(at_now) {on_time}, if(count(*) {stood} > 0, any_value(complete_now), NULL),
                        min(at_now) {not_early}) AS on_time_at,
               min(at_now) FILTER (shows AND so_far = total) AS right_at,
               coalesce(coalesce(arg_min(so_far, tick) {on_time}, arg_max(so_far, tick) {stood},
                                 arg_min(so_far, tick) {not_early}) = any_value(total), false) AS is_right,
               count(*) FILTER (shows) AS panes,
               count(*) FILTER (shows AND timing = 'early') AS early,
               count(*) FILTER ((shows AND replaces AND {_is_retracting(lives)}) OR retracts) AS retractions
        FROM complete LEFT JOIN {s}.log USING (cell) LEFT JOIN {s}.ticks USING (tick)
        LEFT JOIN (SELECT tick AS complete_at, at_{NOW} AS complete_now FROM {s}.ticks) USING (complete_at)
        GROUP BY cell""",
        [measured.until],
    )
    lengths = {"to_first": "first_at", "to_on_time": "on_time_at", "to_right": "right_at"}
    spreads = ", ".join(f"quantile_disc({column} - window_end, [0.5, 0.95])" for column in lengths.values())
    number, right_first, right, never, panes, early, fixes, retractions, *found = row_of(
        duck,
        f"""SELECT count(*), count(*) FILTER (is_right), count(*) FILTER (right_at IS NOT NULL),
            count(*) FILTER (first_at IS NULL), coalesce(sum(panes), 0)::BIGINT, coalesce(sum(early), 0)::BIGINT,
            coalesce(sum(greatest(panes - early - 1, 0)), 0)::BIGINT, coalesce(sum(retractions), 0)::BIGINT, {spreads}
        FROM {s}.windows""",
    )
    return Findings(
        name=name,
        windows=number,
        right_at_first=right_first,
        right=right,
        never=never,
        panes=panes,
        early=early,
        corrections=fixes,
        retractions=retractions,
        late=lives.late(),
        closed=row_of(duck, f"SELECT coalesce(sum(shut_out), 0)::BIGINT FROM {s}.log")[0],
        pairs=row_of(duck, f"SELECT coalesce(sum(total), 0)::BIGINT FROM {of}.cells")[0],
        most_open=_most_open(lives),
        evaluated=evaluated,
        rows=rows,
        shown_by_age=_shown_by_age(lives),
        **{name: Spread(*(one or (None, None))) for name, one in zip(lengths, found, strict=True)},
    )


def _is_retracting(lives: Lives) -> str:
    stage = lives.own.cells.stage
    return "true" if stage.is_retracting else "false"


def _most_open(lives: Lives) -> int:
    """The greatest number of cells that were open after a tick."""
    (most,) = row_of(
        lives.duck,
        f"""WITH changes AS (
            SELECT tick, 1 AS change FROM {lives.name}.touches WHERE touch = 1
            UNION ALL SELECT tick, -1 FROM {lives.name}.log WHERE is_expired),
        ticks AS (SELECT tick, sum(change) AS change FROM changes GROUP BY tick)
        SELECT coalesce(max(open), 0)::BIGINT FROM (SELECT sum(change) OVER (ORDER BY tick) AS open FROM ticks)""",
    )
    return int(most)


def _shown_by_age(lives: Lives) -> Sequence[tuple[int, float]]:
    """The share of the elements of the measured windows that had been shown, by the age of the window's end."""
    s = lives.name
    counts = ", ".join(
        f"max(so_far) FILTER (shows AND at_now <= window_end + {age * SECOND}) AS age_{age}" for age in AGES
    )
    sums = ", ".join(f"coalesce(sum(age_{age}), 0)::BIGINT" for age in AGES)
    found = row_of(
        lives.duck,
        f"""WITH shown AS (SELECT cell, {counts}
            FROM {s}.windows JOIN {s}.log USING (cell) JOIN {s}.ticks USING (tick) GROUP BY cell)
        SELECT (SELECT sum(total) FROM {s}.windows)::BIGINT, {sums} FROM shown""",
    )
    total, *shown = found
    return [(age, one / total) for age, one in zip(AGES, shown, strict=True)] if total else []
