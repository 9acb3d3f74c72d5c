"""Windows, triggers and exact corrections for lakehouse pipelines on PySpark and Delta.

The names below are what a user needs in Python; each is imported when it is first used, so that `import windrow` needs
neither Spark nor time.

    pipeline = windrow.load("conf/pipelines/flights.yaml")
    windrow.run(pipeline, spark, once=True, drain=True)
    windrow.reconcile(pipeline, spark)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "compile.windows.custom": ("CustomWindows",),
    "spec.errors": ("NotInThisVersion", "SpecError"),
    "spec.extensions": ("register",),
    "spec.pipelines.loading": ("load",),
    "spec.pipelines.pipeline": ("Pipeline",),
    "spec.sources.source": ("Files", "Source", "TimeColumn"),
    "spec.sources.watermarks": ("Watermark",),
    "spec.stages.stage": ("Accumulation", "Emission", "Stage"),
    "spec.windows.aligned": ("CalendarWindows", "CumulativeWindows", "FixedWindows", "GlobalWindow", "SlidingWindows"),
    "spec.expressions": ("Expression",),
    "spec.triggers.moments": ("Moment",),
    "spec.triggers.custom": ("CustomTrigger",),
    "spec.triggers.all": (
        "AfterBytes", "AfterCount", "AfterDelay", "AfterMatch", "AfterWatermark", "AllOf", "AtClose", "AtPeriod",
        "AtWatermark", "Domain", "FirstOf", "Never", "Repeat", "RepeatCount", "RepeatUntil", "SequenceOf", "Then",
        "WhenResult",
    ),
    "spec.aggregates": (
        "AllTrue", "AnyTrue", "ApproxCountDistinct", "ApproxTop", "Collect", "CollectSet", "Count", "CountDistinct",
        "CountIf", "First", "Histogram", "Last", "Max", "Mean", "Min", "Quantiles", "Stddev", "Sum", "Top", "Variance",
    ),
    "compile.aggregates.custom": ("CustomAggregate", "PythonAggregate"),
    "compile.aggregates.parts": ("Argument", "Part"),
    "compile.sql.columns": ("Column",),
    "spec.transcripts.cases": ("read_transcripts",),
    "drivers.recompute.backfill": ("backfill",),
    "testing.check": ("check_case",),
    "drivers.maintain": ("maintain",),
    "testing.panes": ("panes",),
    "drivers.recompute.reconcile": ("reconcile",),
    "drivers.recompute.restate": ("restate",),
    "drivers.spark.session": ("local_session",),
    "drivers.inspect.show": ("show",),
    "drivers.inspect.plan": ("plan",),
    "drivers.inspect.status": ("status",),
    "drivers.stream.stream": ("run",),
    "store.delta.steps": ("StepTaken",),
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'windrow' has no attribute {name!r}")
    return getattr(import_module(f"windrow.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
