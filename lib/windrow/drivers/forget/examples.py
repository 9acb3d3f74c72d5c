"""What runs have found, without the values of rows, keys and windows that they give as examples or have observed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.sql.columns import any_of, call, col, null
from windrow.engine.frames import local, select, with_column
from windrow.spec.quality.hidden import HIDDEN
from windrow.spec.quality.judgements import Outcome
from windrow.store.delta.copy_on_write import GOES, Rewrite, rewrite_once
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Audits
from windrow.store.journal.outcomes import OUTCOME

GATE, CHANGES = "gate", "changes"
"""The steps of a run that keep examples, beside how its steps have ended."""

_OF_JUDGEMENT: Mapping[str, Any] = {"examples": [], "broken": None, "shares": None}
"""What a judgement says of single rows and of source partitions, and what it says without them."""
_OF_A_ROW = ("column_min_", "column_max_", "column_median_", "column_distinct_values_")
"""With which the names of expectations begin whose observed value is that of a row."""


def without_examples(step: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """What a step has found, without the values of rows: its numbers stay."""
    if step == CHANGES:
        return {**result, "first": []}
    if step == OUTCOME:
        return {**result, "message": str(result.get("message", "")).partition("\n")[0].partition(":")[0]}
    if step != GATE:
        return dict(result)
    return {**result, "judgements": [_of_judgement(one) for one in result.get("judgements", ())]}


def _of_judgement(judgement: Mapping[str, Any]) -> dict[str, Any]:
    found = {**judgement, **_OF_JUDGEMENT}
    if judgement["outcome"] == Outcome.ERROR:  # its message may have values
        return {**found, "figure": "could not be checked"}
    if str(judgement["expectation"]).startswith(_OF_A_ROW):
        return {**found, "figure": HIDDEN, "value": None}
    return found


def forget_examples(spark: SparkSession, lake: Lake) -> None:
    """Take them out of the audits and `quality_results` of a lake, whoever they are of: nobody can tell."""
    for location, change in (
        (Audits.of(lake).location, Rewrite(_has_examples, _becomes)),
        (lake.quality_results, Rewrite(_has_values, _without_value)),
    ):
        if location.exists(spark):
            rewrite_once(spark, location, change)


def _has_examples(rows: DataFrame) -> DataFrame:
    return with_column(rows, GOES, any_of(col("step") == step for step in (GATE, CHANGES, OUTCOME)))


def _becomes(rows: DataFrame) -> DataFrame:
    made = [_without(row.asDict()) for row in rows.collect()]
    return local(rows.sparkSession, [tuple(row[name] for name in rows.columns) for row in made], rows.schema)


def _without(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "result": json.dumps(without_examples(row["step"], json.loads(row["result"])))}


def _has_values(rows: DataFrame) -> DataFrame:
    is_of_a_row = any_of(call("startswith", col("rule"), name) for name in _OF_A_ROW)
    return with_column(rows, GOES, is_of_a_row & col("value").is_not_null())


def _without_value(rows: DataFrame) -> DataFrame:
    return select(rows, {name: null("double") if name == "value" else col(name) for name in rows.columns})
