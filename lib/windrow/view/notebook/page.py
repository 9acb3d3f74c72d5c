"""What a notebook shows of a pipeline, a source, a stage and its tables, and of a case: the plan, drawings, the tables.

Everything follows from the values themselves: neither Spark nor the lake is asked, so tables are named that are not
there yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table import Table
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage
from windrow.spec.transcripts.cases import Case
from windrow.spec.windows.base import WindowFunction
from windrow.view.notebook.graph import Graph, graph_of
from windrow.view.notebook.windows import Drawing, drawing_of
from windrow.view.pictures.drawing import svg
from windrow.view.pictures.transcripts import pictures
from windrow.view.plan.pipeline import headline
from windrow.view.plan.sources import source_section
from windrow.view.plan.stages import results_in_words, stage_section
from windrow.view.plan.tables import WRITES, WrittenTable, folder_of, tables_of_source, tables_of_stage
from windrow.view.templates import template
from windrow.view.text.sections import Section

Rows = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Part:
    """A source or a stage on the page: its rows of the plan, how its windows lie in time, and its tables."""

    title: str
    rows: Rows
    tables: Sequence[WrittenTable]
    where: str
    folder: str
    drawing: Drawing | None = None


@dataclass(frozen=True)
class Page:
    """All that is shown of one value. `note` stands at its end."""

    title: str
    parts: Sequence[Part] = field(default_factory=list)
    graph: Graph | None = None
    note: str = ""


def html(value: object) -> str:
    """The value as HTML that needs nothing else: no network, no script."""
    if isinstance(value, Case):
        return "".join(f"<div>{svg(picture, is_inline=True)}</div>" for picture in pictures(value))
    return template("notebook.html").render(page=_page(value))


def _page(value: object) -> Page:
    match value:
        case Pipeline():
            return _of_pipeline(value)
        case Source():
            return Page("", [_of_source(value, None)])
        case Stage():
            return Page("", [_of_stage(value)])
        case Table():
            return _of_table(value)
    raise NotImplementedError(value)


def _of_pipeline(pipeline: Pipeline) -> Page:
    sources = [_of_source(source, pipeline.lake) for source in pipeline.sources]
    stages = [_of_stage(stage, pipeline) for stage in pipeline.stages]
    note = "windrow.plan(pipeline) also says what has changed since the last run."
    return Page(headline(pipeline), [*sources, *stages], graph_of(pipeline), note)


def _of_source(source: Source, lake: str | None) -> Part:
    section = source_section(source, lake)
    return Part(section.title, _rows(section), tables_of_source(source), _where(lake), folder_of(source.name, lake))


def _of_stage(stage: Stage, pipeline: Pipeline | None = None) -> Part:
    lake = None if pipeline is None else pipeline.lake
    section = stage_section(stage, lake, {} if pipeline is None else pipeline.upstreams_of(stage))
    window = _made_by(stage, pipeline)
    drawing = drawing_of(window, window.words())
    tables = tables_of_stage(stage, results_in_words(stage))
    return Part(section.title, _rows(section), tables, _where(lake), folder_of(stage.name, lake), drawing)


def _of_table(table: Table) -> Page:
    match table.of:
        case Stage() as stage:
            tables = tables_of_stage(stage, results_in_words(stage))
        case Source() as source:
            tables = tables_of_source(source)
        case None:
            tables = []
    return Page("", [Part(f"Tables of {table.name}", (), tables, "In", folder_of(table.name, table.lake))])


def _made_by(stage: Stage, pipeline: Pipeline | None) -> WindowFunction:
    """The window function of a stage, or of the stage whose windows it inherits."""
    if pipeline is None or not stage.window.FOLLOWS_PANES:
        return stage.window
    above = next(one for one in pipeline.upstreams_of(stage).values() if isinstance(one, Stage))
    return _made_by(above, pipeline)


def _where(lake: str | None) -> str:
    return "Tables in the lake of its pipeline, under" if lake is None else "Tables in"


def _rows(section: Section) -> Rows:
    """What the plan says, but for the tables, which are shown with their columns."""
    return [(label, lines) for label, lines in section.rows if lines and label != WRITES]
