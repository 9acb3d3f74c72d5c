"""Simulated specifications as text for a terminal. Rule: docs/simulate.md#the-figures."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.view.simulate.findings import Findings, Simulation
from windrow.view.simulate.words import choices, lag, method, of_arrival, of_suggestion, share, title
from windrow.view.text.table import table

COLUMNS = ("", "specification", "right at first", "right at last", "first pane", "on time", "95 % by", "right by",
           "panes/window", "retractions", "late", "closed", "open at most", "cost/M rows")  # fmt: skip
"""`first pane`, `on time` and `right by` are medians after the end of the window; `95 % by` is of the pane on time."""


def text_of(simulation: Simulation, width: int) -> str:
    """The whole answer: title, table, sentences."""
    parts = [
        title(simulation),
        method(simulation),
        "",
        table(COLUMNS, [row_of(one, simulation.front) for one in simulation.findings], width),
        "",
        "* on the Pareto front: no other is as good in wrong windows, first pane and rows written, and better in one",
        *choices(simulation),
        *(["", *map(of_suggestion, simulation.suggestions)] if simulation.suggestions else []),
        "",
        *[of_arrival(words, one) for words, one in simulation.arrivals],
        *[f"note: {one}" for one in simulation.warnings],
    ]
    return "\n".join(parts)


def row_of(one: Findings, front: Sequence[str]) -> tuple[str | int | float, ...]:
    """A specification as a row under `COLUMNS`."""
    return (
        "*" if one.name in front else "",
        one.name,
        share(one.share_right_at_first),
        share(one.share_right),
        lag(one.to_first.median),
        lag(one.to_on_time.median),
        lag(one.to_on_time.most),
        lag(one.to_right.median),
        round(one.panes_per_window, 2),
        one.retractions,
        one.late,
        one.closed,
        one.most_open,
        round(one.cost),
    )
