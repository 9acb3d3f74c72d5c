"""A gate: a whole suite over a set of rows, run by Great Expectations."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame

from windrow.spec.quality.expectations import Expectation, Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.spec.quality.suites import Suite
from windrow.spec.times import parse_time

EXAMPLES = 5
"""How many values that break an expectation are kept."""
_LONGEST = 80
"""Characters of a value that are shown."""


def judge(subject: str, frame: DataFrame, suite: Suite) -> GateResult:
    """Every expectation of the suite over the frame. An error inside a check is a judgement too, and never a pass."""
    import great_expectations as gx  # takes seconds

    for name in ("great_expectations", "py4j"):
        logging.getLogger(name).setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}  # type: ignore[assignment]
    source = context.data_sources.add_spark("windrow", persist=False)
    definition = source.add_dataframe_asset(subject).add_batch_definition_whole_dataframe("all")
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    expectations = [_of_gx(gx, index, item, kinds) for index, item in enumerate(suite.expectations)]
    found = definition.get_batch({"dataframe": frame}).validate(
        gx.ExpectationSuite(name=uuid4().hex, expectations=expectations),
        result_format={"result_format": "SUMMARY", "partial_unexpected_count": EXAMPLES},
    )
    by_index = {_index(result): result for result in found.results}
    judgements = tuple(_judgement(item, by_index[index]) for index, item in enumerate(suite.expectations))
    return GateResult(subject, frame.count(), judgements)


def _of_gx(gx: Any, index: int, expectation: Expectation, kinds: Mapping[str, str]) -> Any:
    name = "".join(part.capitalize() for part in f"expect_{expectation.expect}".split("_"))
    arguments = dict(expectation.arguments)
    kind = kinds.get(arguments.get("column", ""), "")
    if kind in ("timestamp", "date"):
        arguments = {name: _time(value) for name, value in arguments.items()}
    if "column_A" in arguments:
        arguments["ignore_row_if"] = "either_value_is_missing"
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
    return getattr(gx.expectations, name)(severity=str(expectation.severity), meta={"index": index}, **arguments)


def _index(found: Any) -> int:
    """Which expectation of the suite a result is of: they come in another order."""
    index: int = found.expectation_config.meta["index"]
    return index


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


def _judgement(expectation: Expectation, found: Any) -> Judgement:
    severity = Severity(expectation.severity)
    error = _error(found.exception_info)
    if error is not None:
        return Judgement(str(expectation), severity, Outcome.ERROR, f"could not be checked: {error}")
    outcome = Outcome.PASSED if found.success else Outcome.FAILED
    result = found.result
    examples = () if found.success else tuple(_shown(value) for value in result.get("partial_unexpected_list") or ())
    return Judgement(str(expectation), severity, outcome, _figure(result), tuple(dict.fromkeys(examples)))


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
