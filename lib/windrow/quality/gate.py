"""A gate: a whole suite over a set of rows, run by Great Expectations."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame

from windrow.compile.elements.row_rules import applies_to
from windrow.quality.broken_rows import find_broken_rows
from windrow.quality.located import LocatedRows
from windrow.quality.masking import Masking
from windrow.quality.own import is_own, judge_own
from windrow.quality.shares import find_shares
from windrow.spec.quality.expectations import Expectation, Severity
from windrow.spec.quality.hidden import HIDDEN
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.spec.quality.suites import Suite
from windrow.spec.times import parse_time

EXAMPLES = 5
"""How many values that break an expectation are kept."""
_LONGEST = 80
"""Characters of a value that are shown."""


def judge(subject: str, rows: LocatedRows, suite: Suite) -> GateResult:
    """Every expectation of the suite over the rows. An error inside a check is a judgement too, and never a pass.

    Where expectations are broken, the rows are read once more, to say which broke them.
    """
    with _at_hand(rows.judged) as frame:
        return _result(subject, rows, frame, suite)


def _result(subject: str, rows: LocatedRows, frame: DataFrame, suite: Suite) -> GateResult:
    masking = Masking(suite)
    expectations = dict(enumerate(suite.expectations))
    own = {number: one for number, one in expectations.items() if is_own(one)}
    others = {number: one for number, one in expectations.items() if number not in own}
    found = judge_own(frame, own) | (_judged(subject, frame, others, masking) if others else {})
    broken = {number: expectations[number] for number, one in found.items() if one.outcome is Outcome.FAILED}
    which = find_broken_rows(rows, broken, masking) if broken else {}
    shares = find_shares(rows, broken)
    told = [replace(found[number], broken=which.get(number), shares=shares.get(number)) for number in expectations]
    return GateResult(subject, frame.count(), tuple(told))


@contextmanager
def _at_hand(frame: DataFrame) -> Iterator[DataFrame]:
    """The same rows, held by Spark as long as they are few: Great Expectations asks for them once for each rule."""
    java: Any = frame
    if int(java._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()) > _FEW:
        yield frame
        return
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()


_FEW = 64 * 1024 * 1024
"""Bytes by Spark's estimate."""


def _judged(
    subject: str, frame: DataFrame, expectations: Mapping[int, Expectation], masking: Masking
) -> dict[int, Judgement]:
    """What Great Expectations finds, by the numbers that the expectations have."""
    import great_expectations as gx  # takes seconds

    for name in ("great_expectations", "py4j"):
        logging.getLogger(name).setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}  # type: ignore[assignment]
    source = context.data_sources.add_spark("windrow", persist=False)
    definition = source.add_dataframe_asset(subject).add_batch_definition_whole_dataframe("all")
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    asserted = [_of_gx(gx, number, item, kinds) for number, item in expectations.items()]
    found = definition.get_batch({"dataframe": frame}).validate(
        gx.ExpectationSuite(name=uuid4().hex, expectations=asserted),
        result_format={"result_format": "SUMMARY", "partial_unexpected_count": EXAMPLES},
    )
    by_number = {_number_of(result): result for result in found.results}
    return {number: _judgement(item, by_number[number], masking) for number, item in expectations.items()}


def _of_gx(gx: Any, number: int, expectation: Expectation, kinds: Mapping[str, str]) -> Any:
    name = "".join(part.capitalize() for part in f"expect_{expectation.expect}".split("_"))
    arguments = dict(expectation.arguments)
    kind = kinds.get(arguments.get("column", ""), "")
    if kind in ("timestamp", "date"):
        arguments = {name: _time(value) for name, value in arguments.items()}
    if "column_A" in arguments:
        arguments["ignore_row_if"] = "either_value_is_missing"
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
    if expectation.row_condition is not None:
        from great_expectations.expectations.row_conditions import PassThroughCondition

        condition = applies_to(expectation).text  # made from the tree of the expression, never what came in
        arguments["row_condition"] = PassThroughCondition(pass_through_filter=condition)
    return getattr(gx.expectations, name)(severity=str(expectation.severity), meta={"number": number}, **arguments)


def _number_of(found: Any) -> int:
    """Which expectation of the suite a result is of: they come in another order."""
    number: int = found.expectation_config.meta["number"]
    return number


def _time(value: Any) -> Any:
    """A text beside a column of times is a time."""
    if isinstance(value, tuple):
        return tuple(_time(item) for item in value)
    if not isinstance(value, str):
        return value
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=parse_time(value))
    except ValueError:
        return value


def _judgement(expectation: Expectation, found: Any, masking: Masking) -> Judgement:
    severity = Severity(expectation.severity)
    error = _error(found.exception_info)
    if error is not None:
        error = "an error, whose message may hold values" if masking.suite.masks(expectation) else error
        return Judgement(str(expectation), severity, Outcome.ERROR, f"could not be checked: {error}")
    outcome = Outcome.PASSED if found.success else Outcome.FAILED
    result = found.result
    unexpected = () if found.success else result.get("partial_unexpected_list") or ()
    examples = dict.fromkeys(masking.value(expectation, _shown(value)) for value in unexpected)
    figure = masking.figure(expectation, result) or _figure(result)
    is_of_rows = result.get("element_count") is not None
    rows_broken = int(result.get("unexpected_count") or 0) if is_of_rows else None
    value = None if is_of_rows or figure == HIDDEN else _number(result.get("observed_value"))
    told = Judgement(str(expectation), severity, outcome, figure, tuple(examples))
    return replace(told, rows_broken=rows_broken, value=value)


def _number(value: Any) -> float | None:
    """A number that JSON has; None for any other value."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) else None


def _error(info: Mapping[str, Any]) -> str | None:
    """The message of the exception inside a check, however Great Expectations nests it."""
    nested = [info] if "raised_exception" in info else list(info.values())
    for exception in nested:
        if exception.get("raised_exception"):
            return str(exception.get("exception_message") or "an error").strip().splitlines()[0]
    return None


def _figure(result: Mapping[str, Any]) -> str:
    unexpected, total = result.get("unexpected_count"), result.get("element_count")
    if total is not None:
        share, missing = result.get("unexpected_percent") or 0.0, result.get("missing_count") or 0
        there = " of those that are not null" if missing else ""
        return f"{unexpected or 0:,} of {total:,} rows ({share:.2f} %{there})"
    observed = result.get("observed_value")
    if observed is not None:
        return f"{observed:,.6g}" if isinstance(observed, float) else _shown(observed)
    return "nothing to observe" if unexpected is None else f"{unexpected:,} other values"


def _shown(value: Any) -> str:
    text = "null" if value is None else value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
