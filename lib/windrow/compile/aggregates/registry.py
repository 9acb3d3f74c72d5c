"""Every aggregate and what compiles it: prepare and combine elements, merge partials, extract the value.

Rule: docs/semantics.md#aggregates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql.types import DataType, IntegerType

from windrow.compile.aggregates import numbers, sketches, value_counts, values
from windrow.compile.aggregates.custom import CustomAggregate, PythonAggregate
from windrow.compile.aggregates.histograms import histogram
from windrow.compile.aggregates.kinds import is_floating
from windrow.compile.aggregates.parts import Argument, CompiledAggregate
from windrow.compile.aggregates.variance import stddev, variance
from windrow.compile.sql.columns import Column, lit
from windrow.spec import aggregates as spec

_FUNCTIONS: Mapping[type[spec.Aggregate], Callable[[Argument], CompiledAggregate]] = {
    spec.Count: numbers.count,
    spec.CountIf: numbers.count_if,
    spec.Sum: numbers.sum_of,
    spec.Mean: numbers.mean,
    spec.Variance: variance,
    spec.Stddev: stddev,
    spec.Min: values.smallest,
    spec.Max: values.largest,
    spec.AnyTrue: values.any_true,
    spec.AllTrue: values.all_true,
    spec.First: values.first,
    spec.Last: values.last,
    spec.CountDistinct: values.count_distinct,
    spec.Collect: values.collect,
    spec.CollectSet: values.collect_set,
    spec.ApproxCountDistinct: sketches.approx_count_distinct,
}


_WEIGHTED: Mapping[type[spec.Aggregate], Callable[[Argument], CompiledAggregate]] = {
    spec.Min: value_counts.smallest,
    spec.Max: value_counts.largest,
    spec.First: value_counts.first,
    spec.Last: value_counts.last,
    spec.CountDistinct: value_counts.count_distinct,
    spec.Collect: value_counts.kept_values,
    spec.CollectSet: value_counts.collect_set,
}
"""What cannot be undone keeps all values, where elements can be taken back."""

_WEIGHTED_FLOATS: Mapping[type[spec.Aggregate], Callable[[Argument], CompiledAggregate]] = {
    spec.Sum: value_counts.sum_of,
    spec.Mean: value_counts.mean,
    spec.Variance: value_counts.variance,
    spec.Stddev: value_counts.stddev,
}


def compile_aggregate(name: str, aggregate: spec.Aggregate, column: Column | None, kind: DataType | None,
                      event_time: Column, weight: Column | None = None) -> CompiledAggregate:  # fmt: skip
    """The columns of an aggregate over an argument of that type. `weight`: +1 or -1, where elements can be taken back.

    Errors: SpecError for a type it does not take.
    """
    column, kind = (lit(1), IntegerType()) if column is None or kind is None else (column, kind)
    argument = Argument(name, aggregate, column, kind, event_time, weight)
    match aggregate:
        case CustomAggregate() | PythonAggregate():
            return aggregate.compiled(argument)
        case spec.Top(count=count):
            return values.top(argument, count) if weight is None else value_counts.top(argument, count)
        case spec.Histogram(bounds=bounds):
            return histogram(argument, bounds)
        case spec.Quantiles(at=at):
            return sketches.quantiles(argument, at)
        case spec.ApproxTop(count=count):
            return sketches.approx_top(argument, count)
    return _function(argument)(argument)


def _function(argument: Argument) -> Callable[[Argument], CompiledAggregate]:
    cls = type(argument.aggregate)
    if argument.weight is not None and cls in _WEIGHTED:
        return _WEIGHTED[cls]
    if argument.weight is not None and is_floating(argument.kind) and cls in _WEIGHTED_FLOATS:
        return _WEIGHTED_FLOATS[cls]
    return _FUNCTIONS[cls]
