"""A stage compiled against the types of its rows, which Spark infers without reading any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, DoubleType, FloatType, StructType

from windrow.compile.aggregates.kinds import is_floating
from windrow.compile.aggregates.numbers import total_size
from windrow.compile.aggregates.parts import CompiledAggregate
from windrow.compile.aggregates.registry import compile_aggregate
from windrow.compile.columns import EVENT_TIME, KEY, WEIGHT
from windrow.compile.elements import envelope
from windrow.compile.elements.elements import SIZE, CompiledElements, argument_name, tick_argument
from windrow.compile.elements.envelope import ENVELOPE
from windrow.compile.panes import event_times
from windrow.compile.panes.results import over_results, result_column
from windrow.compile.panes.shown import shown_panes
from windrow.compile.sql.columns import Column, bigint, call, col, null, when
from windrow.compile.stage import Assertion, CompiledStage, extracted, partials, tick_partials
from windrow.compile.triggers.tree import compile_trigger
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.custom import CustomWindows
from windrow.compile.windows.inherited import together
from windrow.compile.windows.registry import compile_windows
from windrow.engine.frames import apply, group, over, select
from windrow.engine.tick.cogroups import as_one
from windrow.spec.aggregates import CONDITIONAL, TotalSize
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import located
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.inputs import input_path
from windrow.spec.stages.joins import cell_stage, cells_by_input
from windrow.spec.stages.stage import Stage
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME
from windrow.spec.triggers.all import Trigger, counts_bytes, nodes_of, tick_aggregates


@dataclass(frozen=True)
class InputRows:
    """What an input of a stage reads: a frame with the columns of its rows.

    `size` is the source's, for triggers that count bytes; `weight` the column of the rows' weights, if they have any;
    `inherited` are the windows of the panes that the rows are, if they are panes.
    """

    rows: DataFrame
    size: Expression | None = None
    weight: str | None = None
    inherited: CompiledWindows | None = None
    are_panes: bool = False

    @property
    def nets(self) -> bool:
        """Whether the rows are panes that are never taken back, unless the stage that is read is corrected."""
        return self.are_panes and self.weight is None


def compile_stage(stage: Stage, inputs: Mapping[str, InputRows]) -> CompiledStage:
    """Compile a stage for the rows of its inputs. Errors: SpecError where a type does not fit."""
    elements: dict[str, CompiledElements] = {}
    for name, by_itself in cells_by_input(stage).items():
        compiled = partial(_compile_elements, given=inputs[name], trigger=stage.trigger)
        elements[name] = located(input_path(name), compiled, by_itself)
    _check_trigger(stage, elements, inputs)
    samples = {name: _elements(one, inputs[name].rows) for name, one in elements.items()}
    _check_key_types(samples)
    is_weighted = any(given.weight is not None for given in inputs.values())
    sample = as_one(samples, {name: given.weight is not None for name, given in inputs.items()})
    whole = _compile(cell_stage(stage), next(iter(elements.values())), sample, is_weighted)
    windows = together([one.windows for one in elements.values()])
    whole = replace(whole, windows=windows, panes=shown_panes(stage, whole.cells))
    parts = {
        name: replace(
            whole,
            elements=one,
            windows=one.windows,
            nets=inputs[name].nets,
            element_types=_types(samples[name]),
        )
        for name, one in elements.items()
    }
    return replace(whole, inputs=parts, element_types=_types(sample))


def _check_trigger(stage: Stage, elements: Mapping[str, CompiledElements], inputs: Mapping[str, InputRows]) -> None:
    """Refuse what the trigger looks at in elements and no input has, and a condition that is not a boolean."""
    for number, aggregate in tick_aggregates(stage.trigger).items():
        having = {name: one for name, one in elements.items() if number in one.looked_at}
        for expression in aggregate.expressions:
            if not having:
                columns = ", ".join(expression.columns)
                raise SpecError("trigger", "looks at columns of which no input has all", columns, "select adds columns")
            for name, one in having.items():
                if isinstance(aggregate, CONDITIONAL):
                    selected = apply(one.exploded(over(inputs[name].rows)), inputs[name].rows)
                    _require_condition("trigger", Column(expression.value_sql), selected)


def _check_key_types(samples: Mapping[str, DataFrame]) -> None:
    """Refuse keys that have not the types of those of the first input."""
    first, kind = next((name, sample.schema[KEY].dataType) for name, sample in samples.items())
    for name, sample in samples.items():
        other = sample.schema[KEY].dataType
        if other.simpleString() != kind.simpleString():
            rule = f"must have the types of those of {first}, {kind.simpleString()}"
            raise SpecError(f"inputs.{name}.keys", rule, other.simpleString(), "cast(.. as ..) in the keys")


def _compile_elements(stage: Stage, given: InputRows, trigger: Trigger) -> CompiledElements:
    rows = given.rows
    columns = tuple(name for name in rows.columns if name not in ENVELOPE)
    windows = compile_windows(stage.window, inherited=given.inherited)
    elements = CompiledElements(stage, windows, trigger, {}, given.size, columns, given.weight)
    _check_conditions(elements, rows)
    elements = replace(elements, windows=_windows(elements, rows))
    _check_size(stage, rows, given.size)
    key_type = _elements(elements, rows).schema[KEY].dataType
    assert isinstance(key_type, StructType)
    numbers = [f for f in key_type.fields if isinstance(f.dataType, FloatType | DoubleType)]
    return replace(elements, floating_keys={f.name: f.dataType.simpleString() for f in numbers})


def _compile(stage: Stage, elements: CompiledElements, sample: DataFrame, is_weighted: bool) -> CompiledStage:
    """A stage over elements of the columns of a frame."""
    key_type = sample.schema[KEY].dataType
    assert isinstance(key_type, StructType)
    kinds = {field.name: field.dataType for field in sample.schema.fields}
    aggregates = {}
    for name, aggregate in stage.aggregates.items():
        argument = argument_name(name)
        column = col(argument) if argument in kinds else None
        aggregates[name] = compile_aggregate(name, aggregate, column, kinds.get(argument), col(EVENT_TIME),
                                             col(WEIGHT) if is_weighted else None)  # fmt: skip
    cells_of = elements.windows.cells
    tree = compile_trigger(stage.trigger, _of_ticks(stage, kinds), cells_of.nodes)
    _register(sample.sparkSession, [*aggregates.values(), *tree.aggregates.values()])
    own = partials(aggregates, is_weighted)
    grouped = group(sample, (), {**own, **tick_partials(tree.aggregates), **event_times.partial(stage)})
    values = select(grouped, {f"v_{name}": column for name, column in extracted(aggregates).items()})
    _check_result_conditions(stage, values, key_type)
    cells = cells_of(stage, aggregates, tree, _types(grouped), _types(values), is_weighted)
    floating = frozenset(f.name.removeprefix("v_") for f in values.schema.fields if is_floating(f.dataType))
    panes = shown_panes(stage, cells)
    return CompiledStage(stage, elements, elements.windows, aggregates, cells, panes, key_type.simpleString(), floating)


def _register(spark: SparkSession, aggregates: Iterable[CompiledAggregate]) -> None:
    """Let the session know the functions of aggregates, by which the stage's columns call them."""
    for aggregate in aggregates:
        if aggregate.function is not None:
            spark.udf.register(aggregate.function.name, aggregate.function.as_udf())


def _of_ticks(stage: Stage, kinds: Mapping[str, DataType]) -> dict[str, CompiledAggregate]:
    """What the trigger's nodes aggregate over the elements of a tick."""
    compiled = {}
    for name, aggregate in tick_aggregates(stage.trigger).items():
        argument = tick_argument(name)
        column = col(argument) if argument in kinds else None
        if isinstance(aggregate, TotalSize):
            compiled[name] = total_size(col(SIZE))
        else:
            compiled[name] = compile_aggregate(name, aggregate, column, kinds.get(argument), col(EVENT_TIME))
    return compiled


def with_assertion(compiled: CompiledStage, rule: Watermark | None, rows: DataFrame) -> CompiledStage:
    """The stage with what rows of this frame assert of the watermark. Errors: SpecError where the type does not fit."""
    if rule is None or rule.punctuated is None:
        return compiled
    value = Column(rule.punctuated.value_sql)
    kind = select(rows, {"asserted": value}).schema["asserted"].dataType.simpleString()
    if kind not in ("timestamp", "tinyint", "smallint", "int", "bigint"):
        hint = "a time: to_timestamp(..), timestamp_millis(..); or a whole number of microseconds since 1970"
        raise SpecError("watermark.punctuated", "must be a timestamp", kind, hint)
    micros = call("unix_micros", value) if kind == "timestamp" else value.cast("bigint")
    known = when(micros.between(bigint(EARLIEST_EVENT_TIME), bigint(LATEST_EVENT_TIME)), micros)
    time = compiled.stage.element_time
    held_back = known if time is None else known - bigint(time.backward)
    return replace(compiled, assertion=Assertion(held_back, rule.punctuated.columns))


def _elements(elements: CompiledElements, rows: DataFrame) -> DataFrame:
    return apply(elements.elements(elements.judged(over(rows))), rows)


def _types(frame: DataFrame) -> Mapping[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def _check_conditions(elements: CompiledElements, rows: DataFrame) -> None:
    """Refuse a condition that is not a boolean, what is no array or no time, with its place."""
    stage = elements.stage
    for name, expression in stage.explode.items():
        kind = _kind(expression, apply(_selected(stage, rows), rows))
        if not kind.startswith("array<"):
            raise SpecError(f"explode.{name}", "must be an array", kind, "for instance split(tags, ',')")
    selected = apply(elements.exploded(over(rows)), rows)
    if stage.element_time is not None:
        kind = _kind(stage.element_time.of, selected)
        if kind != "timestamp":
            hint = "for instance timestamp_micros(sent), to_timestamp(sent)"
            raise SpecError("element_time.of", "must be a timestamp", kind, hint)
    conditions = [
        (f"aggregates.{n}", a.expressions[0]) for n, a in stage.aggregates.items() if isinstance(a, CONDITIONAL)
    ]
    if stage.where is not None:
        conditions.append(("where", stage.where))
    for node in nodes_of(stage.trigger):
        own = [a.expressions[0] for a in node.aggregates.values() if a.NAME == "count_if"]
        conditions += [(f"trigger.{node.NAME}", expression) for expression in own]
    for place, expression in conditions:
        _require_condition(place, Column(expression.value_sql), selected)


def _require_condition(place: str, condition: Column, rows: DataFrame) -> None:
    kind = select(rows, {"condition": condition}).schema["condition"].dataType.simpleString()
    if kind not in ("boolean", "void"):
        raise SpecError(place, "must be a condition", kind, "for instance dep_delay > 15")


def _kind(expression: Expression, rows: DataFrame) -> str:
    return select(rows, {"value": Column(expression.value_sql)}).schema["value"].dataType.simpleString()


def _windows(elements: CompiledElements, rows: DataFrame) -> CompiledWindows:
    """The window function over the types of its expressions. Errors: SpecError where one does not fit."""
    window, exploded = elements.stage.window, apply(elements.exploded(over(rows)), rows)
    if not window.expressions and not isinstance(window, CustomWindows):
        return elements.windows
    kinds = {name: _kind(expression, exploded) for name, expression in window.expressions.items()}
    if isinstance(window, CustomWindows):
        _check_custom(window, exploded)
    located(f"window.{window.NAME}", window.check_types, kinds)
    return compile_windows(window, kinds)


def _check_custom(window: CustomWindows, rows: DataFrame) -> None:
    """Refuse windows of a user's own that are no list of windows."""
    place = f"window.{window.NAME}"
    arguments = {name: Column(expression.value_sql) for name, expression in window.expressions.items()}
    given = window.assign(col(envelope.EVENT_TIME), **arguments)
    try:
        kind = select(rows, {"windows": given}).schema["windows"].dataType.simpleString()
    except AnalysisException as error:
        raise SpecError(place, f"gives no column: {str(error).splitlines()[0]}", given.text) from error
    if not _WINDOWS_KIND.fullmatch(kind):
        raise SpecError(place, "must give an array of window(start, end), which are bigint", kind)


_WINDOWS_KIND = re.compile(r"array<struct<\w+:bigint,\w+:bigint>>")


def _check_result_conditions(stage: Stage, values: DataFrame, keys: StructType) -> None:
    """Refuse a condition over results, of a trigger or `having`, that is not a boolean."""
    named = {result_column(name): col(f"v_{name}") for name in stage.aggregates}
    named.update({result_column(f.name): null(f.dataType.simpleString()) for f in keys.fields if f.name in stage.keys})
    results = select(values, named)
    derived = {result_column(name): over_results(stage, expression) for name, expression in stage.derive.items()}
    results = select(results, {**{name: col(name) for name in results.columns}, **derived})
    conditions = [(f"trigger.{node.NAME}", c) for node in nodes_of(stage.trigger) for c in node.conditions]
    conditions += [] if stage.having is None else [("having", stage.having)]
    for place, condition in conditions:
        _require_condition(place, over_results(stage, condition), results)


def _check_size(stage: Stage, rows: DataFrame, size: Expression | None) -> None:
    if size is None or not counts_bytes(stage.trigger):
        return
    kind = _kind(size, rows)
    if kind not in ("tinyint", "smallint", "int", "bigint", "void"):
        raise SpecError("size", "must be a whole number of bytes", kind, "for instance octet_length(body)")


def _selected(stage: Stage, rows: DataFrame):  # type: ignore[no-untyped-def]
    chain = over(rows)
    for name, expression in stage.select.items():
        chain = chain.with_columns({name: Column(expression.value_sql)})
    return chain
