"""A simulation as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from markupsafe import Markup

from windrow.view.pictures.against_arrival import against_arrival
from windrow.view.pictures.drawing import svg
from windrow.view.pictures.values import Density
from windrow.view.simulate.findings import Shown, Simulation
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
        pictures=[(one.name, _picture(one, simulation.density)) for one in simulation.shown],
    )


def _picture(shown: Shown, density: Density | None) -> Markup:
    """Its watermark and panes against the arrival of the rows, as wide as half of a desk, or as a phone."""
    picture = against_arrival(f"{shown.name} against arrival", shown.watermark, shown.panes, density)
    return Markup(svg(picture, WIDTH, heading=False, is_inline=True))
