"""Why a window shows what it shows: read without Spark, computed from the rows, and compared with the journal.

Rule: docs/operations.md#ask-a-number-why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from windrow.drivers.inspect.explain.explainer import Explainer
from windrow.drivers.inspect.explain.question import Asking, Question, time_and_bounds
from windrow.drivers.inspect.look import look
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.reading.tables import Tables
from windrow.view.explain.life import Life

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def explain(
    pipeline: Pipeline,
    stage: str,
    keys: Mapping[str, str] | None = None,
    at: Asking = 0,
    spark: SparkSession | None = None,
) -> Life:
    """The life of one window of one key: its elements, its ticks and panes, and why each pane was shown or was not.

    `keys` has a text for every key of the stage (`null` for the null key), `at` is a time inside of the window: a
    datetime, text in ISO 8601, or microseconds. Of several windows that hold it the one that starts last is explained,
    and of these the one that ends first; `START/END` as a text are the bounds of the one that is meant.
    Tables are read by `deltalake`; the session is for a lake that it cannot read. Errors: SpecError for a key that is
    missing or is none, and where the stage has not run.
    """
    question = Question(pipeline.stage(stage), keys or {}, *time_and_bounds("at", at))
    return look(pipeline, spark, lambda tables: explained_in(tables, pipeline, question))


def explained_in(tables: Tables, pipeline: Pipeline, question: Question) -> Life:
    """The same, as these tables tell it."""
    return Explainer.of(tables, pipeline, question).life()
