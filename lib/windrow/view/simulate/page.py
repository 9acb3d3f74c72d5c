"""A simulation as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from windrow.view.simulate.findings import Simulation
from windrow.view.simulate.plots import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Choice, Completeness
from windrow.view.simulate.table import COLUMNS, row_of
from windrow.view.simulate.words import choices, method, of_arrival, of_suggestion, title
from windrow.view.templates import template
from windrow.view.text.table import cell

_SIZES = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM}


def page(simulation: Simulation) -> str:
    """The page."""
    return template("simulate.html").render(
        title=title(simulation),
        method=method(simulation),
        columns=COLUMNS,
        rows=[[cell(value) for value in row_of(one, simulation.front)] for one in simulation.findings],
        choices=list(choices(simulation)),
        suggestions=[of_suggestion(one) for one in simulation.suggestions],
        arrivals=[of_arrival(words, one) for words, one in simulation.arrivals],
        warnings=simulation.warnings,
        completeness=Completeness.of(simulation),
        choice=Choice.of(simulation),
        size=_SIZES,
    )
