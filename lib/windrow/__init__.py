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
    "compile.custom": ("CustomWindows",),
    "spec.errors": ("NotInThisVersion", "SpecError"),
    "spec.extensions": ("register",),
    "spec.loading": ("load",),
    "spec.pipelines": ("Pipeline",),
    "spec.sources": ("Files", "Source", "TimeColumn"),
    "spec.watermarks": ("Watermark",),
    "spec.stages": ("Accumulation", "Emission", "Stage"),
    "spec.windows": ("CalendarWindows", "CumulativeWindows", "FixedWindows", "GlobalWindow", "SlidingWindows"),
    "spec.expressions": ("Expression",),
    "spec.moments": ("Moment",),
    "spec.custom_triggers": ("CustomTrigger",),
    "spec.triggers": (
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
    "compile.sql": ("Column",),
    "spec.transcripts": ("read_transcripts",),
    "run.backfill": ("backfill",),
    "run.check": ("check_case",),
    "run.maintain": ("maintain",),
    "run.panes": ("panes",),
    "run.reconcile": ("reconcile",),
    "run.restate": ("restate",),
    "run.session": ("local_session",),
    "run.show": ("show",),
    "run.since": ("plan",),
    "run.status": ("status",),
    "store.steps": ("StepTaken",),
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", "run", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name == "run":  # the package of the drivers, which can be called
        return import_module("windrow.run")
    if name not in _HOME:
        raise AttributeError(f"module 'windrow' has no attribute {name!r}")
    return getattr(import_module(f"windrow.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
