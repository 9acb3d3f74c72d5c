"""What runs have found, without the values of rows, keys and windows that they give as examples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.sql.columns import any_of, col
from windrow.engine.frames import local, with_column
from windrow.store.delta.location import Lake
from windrow.store.delta.rewriting import GOES, Rewrite, rewrite_once
from windrow.store.journal.audits import Audits
from windrow.store.journal.outcomes import OUTCOME

GATE, CHANGES = "gate", "changes"
"""The steps of a run that keep examples, beside how its steps have ended."""

_OF_JUDGEMENT: Mapping[str, Any] = {"examples": [], "broken": None, "shares": None}
"""What a judgement says of single rows and of source partitions, and what it says without them."""


def without_examples(step: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """What a step has found, without the values of rows: its numbers stay."""
    if step == CHANGES:
        return {**result, "first": []}
    if step == OUTCOME:
        return {**result, "message": str(result.get("message", "")).partition("\n")[0]}
    if step != GATE:
        return dict(result)
    judgements = [{**one, **_OF_JUDGEMENT} for one in result.get("judgements", ())]
    return {**result, "judgements": judgements}


def forget_examples(spark: SparkSession, lake: Lake) -> None:
    """Take the examples out of the audits of a lake, whoever they are of: no one can tell it of a masked value."""
    location = Audits.of(lake).location
    if location.exists(spark):
        rewrite_once(spark, location, Rewrite(_tells, _becomes))


def _tells(rows: DataFrame) -> DataFrame:
    return with_column(rows, GOES, any_of(col("step") == step for step in (GATE, CHANGES, OUTCOME)))


def _becomes(rows: DataFrame) -> DataFrame:
    made = [_without(row.asDict()) for row in rows.collect()]
    return local(rows.sparkSession, [tuple(row[name] for name in rows.columns) for row in made], rows.schema)


def _without(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "result": json.dumps(without_examples(row["step"], json.loads(row["result"])))}
