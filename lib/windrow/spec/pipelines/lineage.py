"""Which columns of what a stage reads each of its result columns is made of, from the trees of its expressions.

It is exact for what the specification says: no query is guessed at. The kinds are those of OpenLineage: a column is
made of another directly (its value goes into it), or is influenced by it indirectly (it decides which rows count).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from windrow.spec.expressions import Expression
from windrow.spec.expressions.tree import Column
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.reads import pane_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import nodes_of

IDENTITY, TRANSFORMATION, AGGREGATION = "IDENTITY", "TRANSFORMATION", "AGGREGATION"
"""How a column is made directly."""
FILTER, GROUP_BY, WINDOW, JOIN, CONDITIONAL = "FILTER", "GROUP_BY", "WINDOW", "JOIN", "CONDITIONAL"
"""How all columns are influenced."""


@dataclass(frozen=True, order=True)
class Origin:
    """A column of a source or stage that is read, and how it counts; `words` is the expression or aggregate."""

    read: str
    column: str
    kind: str
    words: str = ""

    @property
    def is_direct(self) -> bool:
        return self.kind in (IDENTITY, TRANSFORMATION, AGGREGATION)


@dataclass(frozen=True)
class Lineage:
    """Of the results of a stage: the origins of each column, and those that influence every row."""

    columns: Mapping[str, tuple[Origin, ...]]
    all_rows: tuple[Origin, ...]


def lineage_of(pipeline: Pipeline, stage: Stage) -> Lineage:
    """That of one stage over what it reads itself."""
    return _Stage(pipeline, stage).lineage


@dataclass(frozen=True)
class _Stage:
    pipeline: Pipeline
    stage: Stage

    @property
    def lineage(self) -> Lineage:
        columns: dict[str, list[Origin]] = {}
        for one in self._inputs:
            for name, expression in one.stage.keys.items():
                columns.setdefault(name, []).extend(one.direct(expression))
        for one in self._inputs:
            for name, aggregate in one.stage.aggregates.items():
                kind = None if self.stage.join is not None else AGGREGATION
                found = [o for expression in aggregate.expressions for o in one.direct(expression, kind)]
                columns.setdefault(name, []).extend(found)
        for name, expression in self.stage.derive.items():
            columns[name] = [*self._of_results(expression, columns)]
        for name in ("window_start", "window_end"):
            columns[name] = [o for one in self._inputs for o in one.window_bound(name)]
        influences = [o for one in self._inputs for o in one.influences(self.stage)]
        every = {name: _once(found) for name, found in columns.items()}
        return Lineage(every, _once([*influences, *self._shown(columns)]))

    @cached_property
    def _inputs(self) -> list[_Input]:
        upstreams = self.pipeline.upstreams_of(self.stage)
        return [_Input(one, upstreams[name]) for name, one in by_input(self.stage).items()]

    def _of_results(self, expression: Expression, columns: Mapping[str, Iterable[Origin]]) -> Iterator[Origin]:
        """A derived column is made of what the results are made of that it reads."""
        known = {name.lower(): list(found) for name, found in columns.items()}
        for column in expression.columns:
            for origin in known.get(column.lower(), ()):
                kind = AGGREGATION if origin.kind == AGGREGATION else TRANSFORMATION
                yield Origin(origin.read, origin.column, kind, expression.text)

    def _shown(self, columns: Mapping[str, Iterable[Origin]]) -> Iterator[Origin]:
        """What decides whether a pane is shown: `having`, and the conditions of triggers over results."""
        if self.stage.having is not None:
            for origin in self._of_results(self.stage.having, columns):
                yield Origin(origin.read, origin.column, FILTER, self.stage.having.text)
        for node in nodes_of(self.stage.trigger):
            for condition in node.conditions:
                for origin in self._of_results(condition, columns):
                    yield Origin(origin.read, origin.column, CONDITIONAL, condition.text)


@dataclass(frozen=True)
class _Input:
    """One input of a stage as a stage that reads it alone, and what it reads."""

    stage: Stage
    read: Source | Stage

    @cached_property
    def _made(self) -> dict[str, Expression]:
        """The columns that `select` and `explode` make, by their names in lower case."""
        return {name.lower(): one for name, one in (*self.stage.select.items(), *self.stage.explode.items())}

    @cached_property
    def _names(self) -> dict[str, str]:
        """The columns that are read, as they are written there."""
        columns = self.read.columns if isinstance(self.read, Source) else pane_columns(self.read)
        return {name.lower(): name for name in columns}

    def direct(self, expression: Expression, kind: str | None = None) -> Iterator[Origin]:
        """Every column that goes into an expression; of what `select` makes, those that it makes it of."""
        is_itself = isinstance(expression.tree, Column) and len(expression.tree.path) == 1
        own = kind or (IDENTITY if is_itself else TRANSFORMATION)
        for column in expression.columns:
            made = self._made.get(column.lower())
            if made is None:
                words = "" if own == IDENTITY else expression.text
                yield Origin(self.read.name, self._names.get(column.lower(), column), own, words)
            else:
                yield from (self._by_way_of(origin, own, expression) for origin in self.direct(made))

    def _by_way_of(self, origin: Origin, own: str, expression: Expression) -> Origin:
        """The origin of a column that `select` makes, where an expression reads it."""
        if own == IDENTITY:
            return origin
        return Origin(origin.read, origin.column, own, expression.text)

    def window_bound(self, name: str) -> Iterator[Origin]:
        """What the bounds of windows are made of: the event time, and what gaps are made of."""
        if self.stage.window.IS_GLOBAL:
            return
        if self.stage.window.FOLLOWS_PANES:
            yield Origin(self.read.name, name, IDENTITY)
            return
        gaps = [origin for one in self.stage.window.expressions.values() for origin in self.direct(one)]
        for origin in (*self._event_time(), *gaps):
            yield Origin(origin.read, origin.column, TRANSFORMATION, self.stage.window.words())

    def influences(self, stage: Stage) -> Iterator[Origin]:
        """What decides which rows are in which result."""
        if self.stage.where is not None:
            yield from self._indirect(self.stage.where, FILTER)
        for expression in self.stage.keys.values():
            yield from self._indirect(expression, GROUP_BY if stage.join is None else JOIN)
        for bound in self.window_bound("window_end"):
            yield Origin(bound.read, bound.column, WINDOW, self.stage.window.words())
        for node in nodes_of(stage.trigger):
            for aggregate in node.aggregates.values():
                for expression in aggregate.expressions:
                    yield from self._indirect(expression, CONDITIONAL)

    def _indirect(self, expression: Expression, kind: str) -> Iterator[Origin]:
        for origin in self.direct(expression):
            if origin.column.lower() in self._names:
                yield Origin(origin.read, origin.column, kind, expression.text)

    def _event_time(self) -> Iterator[Origin]:
        if self.stage.element_time is not None:
            yield from self.direct(self.stage.element_time.of)
        elif isinstance(self.read, Stage):
            yield Origin(self.read.name, "window_end", TRANSFORMATION)
        elif self.read.event_time is not None:
            yield from (Origin(self.read.name, name, TRANSFORMATION) for name in self.read.event_time.columns)


def _once(origins: Iterable[Origin]) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys(origins))
