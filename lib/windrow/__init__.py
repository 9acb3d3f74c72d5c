"""Windows, triggers and exact corrections for lakehouse pipelines on PySpark and Delta.

    pipeline = windrow.load("conf/pipelines/flights.yaml")
    windrow.run(pipeline, spark, once=True, drain=True)
    pipeline.table("departures_hourly").current(spark).show()

The names below are what a user needs in Python, with their types. Each is imported when it is first used, so that
`import windrow` needs neither Spark nor time. What extensions need is in `windrow.extend`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from windrow.spec.notebooks import draw_with
from windrow.spec.pipelines.explained import explain_with

__version__ = "0.1.0"

if TYPE_CHECKING:
    from windrow.compile.aggregates.custom import CustomAggregate as CustomAggregate
    from windrow.compile.aggregates.custom import PythonAggregate as PythonAggregate
    from windrow.compile.aggregates.parts import Argument as Argument
    from windrow.compile.aggregates.parts import Part as Part
    from windrow.compile.sql.columns import Column as Column
    from windrow.compile.windows.custom import CustomWindows as CustomWindows
    from windrow.drivers.forget.forget import Forgotten as Forgotten
    from windrow.drivers.forget.forget import ForgottenRows as ForgottenRows
    from windrow.drivers.forget.forget import forget as forget
    from windrow.drivers.forget.windows.stage import ForgottenWindows as ForgottenWindows
    from windrow.drivers.ingest.quarantine import Quarantined as Quarantined
    from windrow.drivers.ingest.quarantine import quarantine as quarantine
    from windrow.drivers.inspect.explain.explain import explain as explain
    from windrow.drivers.inspect.freshness import freshness_of as freshness_of
    from windrow.drivers.inspect.lineage.lineage import lineage as lineage
    from windrow.drivers.inspect.metrics import metrics_text as metrics_text
    from windrow.drivers.inspect.plan import plan as plan
    from windrow.drivers.inspect.report import report as report
    from windrow.drivers.inspect.show.show import show as show
    from windrow.drivers.inspect.status.status import status as status
    from windrow.drivers.inspect.waiting.windows import WaitingWindows as WaitingWindows
    from windrow.drivers.maintain.maintain import maintain as maintain
    from windrow.drivers.maintain.tables import Maintained as Maintained
    from windrow.drivers.recompute.backfill import backfill as backfill
    from windrow.drivers.recompute.publish.commit import BackfillResult as BackfillResult
    from windrow.drivers.recompute.reconcile import Difference as Difference
    from windrow.drivers.recompute.reconcile import Reconciliation as Reconciliation
    from windrow.drivers.recompute.reconcile import reconcile as reconcile
    from windrow.drivers.recompute.restate import RestateResult as RestateResult
    from windrow.drivers.recompute.restate import restate as restate
    from windrow.drivers.register.duckdb import views as views
    from windrow.drivers.register.registered import Registered as Registered
    from windrow.drivers.register.spark import register_names as register_names
    from windrow.drivers.register.sql import names_sql as names_sql
    from windrow.drivers.simulate.simulate import simulate as simulate
    from windrow.drivers.spark.session import local_session as local_session
    from windrow.drivers.stream.progress import Progress as Progress
    from windrow.drivers.stream.progress import Totals as Totals
    from windrow.drivers.stream.stream import run as run
    from windrow.spec.aggregates import AllTrue as AllTrue
    from windrow.spec.aggregates import AnyTrue as AnyTrue
    from windrow.spec.aggregates import ApproxCountDistinct as ApproxCountDistinct
    from windrow.spec.aggregates import ApproxTop as ApproxTop
    from windrow.spec.aggregates import Collect as Collect
    from windrow.spec.aggregates import CollectSet as CollectSet
    from windrow.spec.aggregates import Count as Count
    from windrow.spec.aggregates import CountDistinct as CountDistinct
    from windrow.spec.aggregates import CountIf as CountIf
    from windrow.spec.aggregates import First as First
    from windrow.spec.aggregates import Histogram as Histogram
    from windrow.spec.aggregates import Last as Last
    from windrow.spec.aggregates import Max as Max
    from windrow.spec.aggregates import Mean as Mean
    from windrow.spec.aggregates import Min as Min
    from windrow.spec.aggregates import Quantiles as Quantiles
    from windrow.spec.aggregates import Stddev as Stddev
    from windrow.spec.aggregates import Sum as Sum
    from windrow.spec.aggregates import Top as Top
    from windrow.spec.aggregates import Variance as Variance
    from windrow.spec.errors import NotInThisVersion as NotInThisVersion
    from windrow.spec.errors import NotYet as NotYet
    from windrow.spec.errors import SourceUnavailable as SourceUnavailable
    from windrow.spec.errors import SpecError as SpecError
    from windrow.spec.errors import WindowsWait as WindowsWait
    from windrow.spec.expressions import Expression as Expression
    from windrow.spec.extensions import register as register
    from windrow.spec.pipelines.loading import load as load
    from windrow.spec.pipelines.pipeline import Pipeline as Pipeline
    from windrow.spec.pipelines.retention import Retention as Retention
    from windrow.spec.pipelines.schedules import Schedule as Schedule
    from windrow.spec.pipelines.submissions import Submission as Submission
    from windrow.spec.pipelines.table import Table as Table
    from windrow.spec.quality.broken_rows import BrokenRows as BrokenRows
    from windrow.spec.quality.judgements import GateFailed as GateFailed
    from windrow.spec.quality.judgements import GateResult as GateResult
    from windrow.spec.quality.judgements import Judgement as Judgement
    from windrow.spec.quality.quality import Quality as Quality
    from windrow.spec.sources.delta import DeltaSource as DeltaSource
    from windrow.spec.sources.files import Files as Files
    from windrow.spec.sources.kafka import Kafka as Kafka
    from windrow.spec.sources.rate import Rate as Rate
    from windrow.spec.sources.source import Source as Source
    from windrow.spec.sources.time_columns import TimeColumn as TimeColumn
    from windrow.spec.sources.watermarks import Watermark as Watermark
    from windrow.spec.stages.freshness import Freshness as Freshness
    from windrow.spec.stages.inputs import Input as Input
    from windrow.spec.stages.inputs import JoinKind as JoinKind
    from windrow.spec.stages.stage import Accumulation as Accumulation
    from windrow.spec.stages.stage import ElementTime as ElementTime
    from windrow.spec.stages.stage import Emission as Emission
    from windrow.spec.stages.stage import PaneTime as PaneTime
    from windrow.spec.stages.stage import Stage as Stage
    from windrow.spec.transcripts.cases import Case as Case
    from windrow.spec.transcripts.cases import read_transcripts as read_transcripts
    from windrow.spec.triggers.all import AfterBytes as AfterBytes
    from windrow.spec.triggers.all import AfterCount as AfterCount
    from windrow.spec.triggers.all import AfterDelay as AfterDelay
    from windrow.spec.triggers.all import AfterMatch as AfterMatch
    from windrow.spec.triggers.all import AfterWatermark as AfterWatermark
    from windrow.spec.triggers.all import AllOf as AllOf
    from windrow.spec.triggers.all import AtClose as AtClose
    from windrow.spec.triggers.all import AtPeriod as AtPeriod
    from windrow.spec.triggers.all import AtWatermark as AtWatermark
    from windrow.spec.triggers.all import Domain as Domain
    from windrow.spec.triggers.all import FirstOf as FirstOf
    from windrow.spec.triggers.all import Never as Never
    from windrow.spec.triggers.all import Repeat as Repeat
    from windrow.spec.triggers.all import RepeatCount as RepeatCount
    from windrow.spec.triggers.all import RepeatUntil as RepeatUntil
    from windrow.spec.triggers.all import SequenceOf as SequenceOf
    from windrow.spec.triggers.all import Then as Then
    from windrow.spec.triggers.all import Trigger as Trigger
    from windrow.spec.triggers.all import WhenResult as WhenResult
    from windrow.spec.triggers.custom import CustomTrigger as CustomTrigger
    from windrow.spec.triggers.moments import Moment as Moment
    from windrow.spec.windows.aligned import CalendarWindows as CalendarWindows
    from windrow.spec.windows.aligned import CumulativeWindows as CumulativeWindows
    from windrow.spec.windows.aligned import FixedWindows as FixedWindows
    from windrow.spec.windows.aligned import GlobalWindow as GlobalWindow
    from windrow.spec.windows.aligned import SlidingWindows as SlidingWindows
    from windrow.spec.windows.inherited import InheritedWindows as InheritedWindows
    from windrow.spec.windows.records import RecordWindows as RecordWindows
    from windrow.spec.windows.sessions import Sessions as Sessions
    from windrow.store.delta.log.retries import StepTaken as StepTaken
    from windrow.testing.check import Outcome as Outcome
    from windrow.testing.check import check_case as check_case
    from windrow.testing.panes import Panes as Panes
    from windrow.testing.panes import panes as panes
    from windrow.view.explain.life import Life as Life
    from windrow.view.freshness import StageFreshness as StageFreshness
    from windrow.view.simulate.findings import Findings as Findings
    from windrow.view.simulate.findings import Simulation as Simulation
    from windrow.view.status import SourceStatus as SourceStatus
    from windrow.view.status import StageStatus as StageStatus

_NAMES = {
    "compile.aggregates.custom": "CustomAggregate PythonAggregate",
    "compile.aggregates.parts": "Argument Part",
    "compile.sql.columns": "Column",
    "compile.windows.custom": "CustomWindows",
    "drivers.forget.forget": "Forgotten ForgottenRows forget",
    "drivers.forget.windows.stage": "ForgottenWindows",
    "drivers.ingest.quarantine": "Quarantined quarantine",
    "drivers.inspect.explain.explain": "explain",
    "drivers.inspect.freshness": "freshness_of",
    "drivers.inspect.lineage.lineage": "lineage",
    "drivers.inspect.metrics": "metrics_text",
    "drivers.inspect.plan": "plan",
    "drivers.inspect.report": "report",
    "drivers.inspect.show.show": "show",
    "drivers.inspect.status.status": "status",
    "drivers.inspect.waiting.windows": "WaitingWindows",
    "drivers.maintain.maintain": "maintain",
    "drivers.maintain.tables": "Maintained",
    "drivers.recompute.backfill": "backfill",
    "drivers.recompute.publish.commit": "BackfillResult",
    "drivers.recompute.reconcile": "Difference Reconciliation reconcile",
    "drivers.recompute.restate": "RestateResult restate",
    "drivers.simulate.simulate": "simulate",
    "drivers.register.duckdb": "views",
    "drivers.register.registered": "Registered",
    "drivers.register.spark": "register_names",
    "drivers.register.sql": "names_sql",
    "drivers.spark.session": "local_session",
    "drivers.stream.progress": "Progress Totals",
    "drivers.stream.stream": "run",
    "spec.aggregates": (
        "AllTrue AnyTrue ApproxCountDistinct ApproxTop Collect CollectSet Count CountDistinct CountIf First "
        "Histogram Last Max Mean Min Quantiles Stddev Sum Top Variance"
    ),
    "spec.errors": "NotInThisVersion NotYet SourceUnavailable SpecError WindowsWait",
    "spec.expressions": "Expression",
    "spec.extensions": "register",
    "spec.pipelines.loading": "load",
    "spec.pipelines.pipeline": "Pipeline",
    "spec.pipelines.retention": "Retention",
    "spec.pipelines.schedules": "Schedule",
    "spec.pipelines.submissions": "Submission",
    "spec.pipelines.table": "Table",
    "spec.quality.broken_rows": "BrokenRows",
    "spec.quality.judgements": "GateFailed GateResult Judgement",
    "spec.quality.quality": "Quality",
    "spec.sources.delta": "DeltaSource",
    "spec.sources.files": "Files",
    "spec.sources.kafka": "Kafka",
    "spec.sources.rate": "Rate",
    "spec.sources.source": "Source",
    "spec.sources.time_columns": "TimeColumn",
    "spec.sources.watermarks": "Watermark",
    "spec.stages.freshness": "Freshness",
    "spec.stages.inputs": "Input JoinKind",
    "spec.stages.stage": "Accumulation ElementTime Emission PaneTime Stage",
    "spec.transcripts.cases": "Case read_transcripts",
    "spec.triggers.all": (
        "AfterBytes AfterCount AfterDelay AfterMatch AfterWatermark AllOf AtClose AtPeriod AtWatermark Domain "
        "FirstOf Never Repeat RepeatCount RepeatUntil SequenceOf Then Trigger WhenResult"
    ),
    "spec.triggers.custom": "CustomTrigger",
    "spec.triggers.moments": "Moment",
    "spec.windows.aligned": "CalendarWindows CumulativeWindows FixedWindows GlobalWindow SlidingWindows",
    "spec.windows.inherited": "InheritedWindows",
    "spec.windows.records": "RecordWindows",
    "spec.windows.sessions": "Sessions",
    "store.delta.log.retries": "StepTaken",
    "testing.check": "Outcome check_case",
    "testing.panes": "Panes panes",
    "view.explain.life": "Life",
    "view.freshness": "StageFreshness",
    "view.simulate.findings": "Findings Simulation",
    "view.status": "SourceStatus StageStatus",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_HOME)]


if not TYPE_CHECKING:  # a checker knows the names, and that there are no others

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'windrow' has no attribute {name!r}")
        try:
            return getattr(import_module(f"windrow.{_HOME[name]}"), name)
        except ModuleNotFoundError as error:
            from windrow.spec.errors import NeedsSpark

            if NeedsSpark.is_why(error):
                raise NeedsSpark(f"windrow.{name}") from error
            raise


def _html(value: object) -> str:
    from windrow.view.notebook.page import html

    return html(value)


def _explained(pipeline: Any, stage: str, keys: Any, at: Any, spark: Any) -> Any:
    from windrow.drivers.inspect.explain.explain import explain

    return explain(pipeline, stage, keys, at, spark)


draw_with(_html)
explain_with(_explained)


def __dir__() -> list[str]:
    return sorted(__all__)
