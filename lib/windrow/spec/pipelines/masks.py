"""Which columns are masked: those that are named, and in stages also all that is made of them.

A number of rows or of values shows none of them; every other aggregate may.
"""

from __future__ import annotations

from windrow.spec.aggregates import Aggregate, ApproxCountDistinct, Count, CountDistinct, CountIf
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.reads import columns_derived_from, reads_one_of
from windrow.spec.stages.stage import Stage

_NUMBERS = (Count, CountIf, CountDistinct, ApproxCountDistinct)


def masks_of(pipeline: Pipeline, owner: Source | Stage) -> frozenset[str]:
    """The columns of a source, or of the results of a stage, whose values nobody is shown, in lower case."""
    named = frozenset(name.lower() for name in (owner.quality.mask if owner.quality is not None else ()))
    if isinstance(owner, Source):
        return named
    found = set(named)
    upstreams = pipeline.upstreams_of(owner)
    for name, alone in by_input(owner).items():
        masked = columns_derived_from(alone, masks_of(pipeline, upstreams[name]))
        found |= {key.lower() for key, of in alone.keys.items() if reads_one_of(of, masked)}
        found |= {result.lower() for result, of in alone.aggregates.items() if _shows(of, masked)}
    for name, expression in owner.derive.items():
        found |= {name.lower()} if reads_one_of(expression, found) else set()
    return frozenset(found)


def _shows(aggregate: Aggregate, masked: set[str]) -> bool:
    is_number = isinstance(aggregate, _NUMBERS)
    return not is_number and any(reads_one_of(expression, masked) for expression in aggregate.expressions)
