"""Aggregates of a user's own: parts and a value as columns, or a Python function over the values of panes.

    @windrow.register
    @dataclass(frozen=True)
    class Span(windrow.CustomAggregate):
        NAME = "span"

        def parts(self, argument):
            column = argument.column
            return {
                "low": windrow.Part(call("min", column), lambda c: call("min", c), least),
                "high": windrow.Part(call("max", column), lambda c: call("max", c), greatest),
            }

        def extract(self, of):
            return of("high") - of("low")

`call`, `least` and `greatest` are of `windrow.compile.sql.columns`.

Rule: docs/pipeline-files.md#aggregates-of-your-own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from windrow.compile.aggregates.parts import Argument, CompiledAggregate, Part, Values
from windrow.compile.sql.columns import Column, call, when
from windrow.spec.aggregates import OfExpression
from windrow.spec.errors import SpecError, WindrowError


class CustomAggregate(OfExpression):
    """The base of aggregates that a user writes as columns of Spark SQL; `of` is the expression that they are over.

    A subclass is a frozen dataclass with a `NAME`, and may have more fields, which are then written as a mapping. One
    whose parts all have an `uncombine` may say `CAN_BE_UNDONE = True`: then it may stand over a weighted source.
    """

    CAN_BE_UNDONE: ClassVar[bool] = False

    def parts(self, argument: Argument) -> Mapping[str, Part]:
        """The columns of the state: how each is made from elements, merged over rows, and combined with another.

        Nulls are to be skipped: the parts of nothing must be null or change nothing. `merge` and `combine` must be
        associative and commutative. For a type that is not taken, raise `argument.refused(..)`.
        """
        raise NotImplementedError(f"{type(self).__name__}.parts")

    def extract(self, of: Values) -> Column:
        """The value, from the columns of the parts, each of which is null where there was no element."""
        raise NotImplementedError(f"{type(self).__name__}.extract")

    def compiled(self, argument: Argument) -> CompiledAggregate:
        """The aggregate over an argument. What is taken back from a weighted source is kept apart until it is shown."""
        if argument.weight is None:
            return CompiledAggregate(self.parts(argument), self.extract)
        there = self.parts(argument.where(argument.weight > 0))
        gone = self.parts(argument.where(argument.weight < 0))
        parts = {**there, **{f"{name}_gone": part for name, part in gone.items()}}
        return CompiledAggregate(parts, lambda of: self.extract(lambda part: _less(argument, there[part], part, of)))


def _less(argument: Argument, part: Part, name: str, of: Values) -> Column:
    if part.uncombine is None:
        raise SpecError(f"aggregates.{argument.name}", f"part {name} of {argument.function} must have an uncombine")
    there, gone = of(name), of(f"{name}_gone")
    return when(there.is_not_null() & gone.is_not_null(), part.uncombine(there, gone), there)


class AggregateFailed(WindrowError):
    """The Python function of an aggregate failed; the tick with it, of which nothing is kept."""


class PythonAggregate(OfExpression):
    """The base of aggregates that are a Python function over the values of panes, by event time, then by value.

    A subclass is a frozen dataclass with a `NAME` and `RETURNS`, the SQL type of its value. All values of a window are
    kept in its state. The function is called with many panes at once, and again whenever a pane fires, in the Python
    workers of Spark. If it fails, the tick does, with nothing lost: the next run tries again.
    """

    RETURNS: ClassVar[str]

    def compute(self, panes: Any) -> Any:
        """The value of each pane of a pandas Series, as a Series or list of the same length.

        An item is an array of all values of the pane, none of them null; it may be empty.
        """
        raise NotImplementedError(f"{type(self).__name__}.compute")

    def compiled(self, argument: Argument) -> CompiledAggregate:
        """The values, collected, and the function over them."""
        from windrow.compile.aggregates.value_counts import kept_values
        from windrow.compile.aggregates.values import collect

        values = collect(argument) if argument.weight is None else kept_values(argument)
        function = PythonFunction(f"aggregates.{argument.name}", self)
        return CompiledAggregate(values.parts, values.extract, values.carry, function)


@dataclass(frozen=True)
class PythonFunction:
    """The function of an aggregate, and the place in the stage that an error of it names."""

    place: str
    aggregate: PythonAggregate

    @property
    def name(self) -> str:
        """Its name in a Spark session: one for each place and aggregate."""
        return f"windrow_{self.aggregate.NAME}_{abs(hash((self.place, repr(self.aggregate)))):x}"

    def over(self, values: Column) -> Column:
        """The call; null where the list of values is."""
        return call(self.name, values)

    def as_udf(self) -> Any:
        """The function as Spark takes it, with the user's module inside of it, as workers may not find that."""
        import pandas as pd  # type: ignore[import-untyped]
        from pyspark.sql.pandas.functions import pandas_udf

        returns = self._type()
        run = _guarded(self.place, self.aggregate.NAME, self.aggregate.compute, returns)
        run.__annotations__ = {"panes": pd.Series, "return": pd.Series}
        with _by_value(type(self.aggregate).__module__):
            return pandas_udf(run, returns)  # type: ignore[call-overload]

    def _type(self) -> Any:
        from pyspark.sql.types import _parse_datatype_string

        text = getattr(self.aggregate, "RETURNS", None)
        try:
            return _parse_datatype_string(text)  # type: ignore[arg-type]
        except Exception as error:
            rule = f"{self.aggregate.NAME}.RETURNS must be a type of Spark SQL"
            raise SpecError(self.place, rule, text, "for instance double") from error


def _guarded(place: str, name: str, compute: Callable[[Any], Any], returns: Any) -> Callable[[Any], Any]:
    """The function with null for null, its values of the declared type, and errors that name the aggregate."""
    from pyspark.sql.pandas.types import to_arrow_type

    kind = to_arrow_type(returns)

    def run(panes):  # type: ignore[no-untyped-def]
        import pandas as pd
        import pyarrow as pa  # type: ignore[import-untyped]

        present = panes[panes.notna()]
        try:
            values = list(compute(present.reset_index(drop=True))) if len(present) else []
            if len(values) != len(present):
                raise ValueError(f"it gave {len(values)} values for {len(present)} panes")
            pa.array(values, type=kind, from_pandas=True)
        except Exception as error:
            raise AggregateFailed(f"{place}: {name} failed: {type(error).__name__}: {error}") from error
        return pd.Series(values, index=present.index, dtype=object).reindex(panes.index)

    return run


@contextmanager
def _by_value(module: str) -> Iterator[None]:
    """Have classes and functions of a module pickled with their code; it is there, as its class is."""
    from pyspark import cloudpickle

    loaded = sys.modules[module]
    cloudpickle.register_pickle_by_value(loaded)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(loaded)  # type: ignore[no-untyped-call]
