"""Which columns of a source a stage uses: those whose values may be in its results."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.spec.expressions import Expression
from windrow.spec.sources.source import Source
from windrow.spec.stages.reads import expressions_read
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import counts_bytes, nodes_of


def columns_used(stage: Stage, by_itself: Stage, source: Source) -> list[str]:
    """The columns of a source that an input of a stage uses, in the order of the source.

    `by_itself` is the stage that reads this input alone; the trigger is that of the stage. Where bytes of whole rows
    are counted, all columns are used.
    """
    if counts_bytes(stage.trigger) and source.size is None:
        return [*source.columns]
    read = {column.lower() for expression in _expressions(stage, by_itself, source) for column in expression.columns}
    return [name for name in source.columns if name.lower() in read or name == source.weight]


def _expressions(stage: Stage, by_itself: Stage, source: Source) -> Iterator[Expression]:
    yield from (expression for _, expression in expressions_read(by_itself))
    for node in nodes_of(stage.trigger):
        for aggregate in node.aggregates.values():
            yield from aggregate.expressions
    if source.watermark.punctuated is not None:
        yield source.watermark.punctuated
    if source.size is not None and counts_bytes(stage.trigger):
        yield source.size
