"""A restatement: a backfill over the windows that have late dead letters, which counts them.

Rule: docs/semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import uuid4

from pyspark.sql import SparkSession

from windrow.compile.columns import WINDOW_START
from windrow.compile.sql.columns import call, col
from windrow.drivers.clock import clock_micros
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.drivers.recompute.publish.commit import BackfillResult
from windrow.drivers.recompute.scope.catching_up import admitted, catch_up, follow
from windrow.drivers.recompute.scope.refusals import check
from windrow.drivers.recompute.scope.request import Request
from windrow.drivers.recompute.scope.scope import scope_of
from windrow.drivers.recompute.windows.recomputed import widened
from windrow.drivers.recompute.windows.unrestated import files_in_quarantine
from windrow.drivers.retention.kept import whole_from
from windrow.engine.frames import group
from windrow.engine.tick.published import Span, starts_in
from windrow.spec.errors import NotYet
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.journal.audits import BEGIN
from windrow.store.journal.control import has_stream
from windrow.store.journal.late import Late, LateWindows

KIND = "restatement"

MOST_SPANS = 64
"""Spans of one restatement: each is a condition of its plan. Where there would be more, the nearest become one."""


@dataclass(frozen=True)
class Waiting:
    """Late rows whose windows are still the stream's: `first` is the bounds of the earliest, in microseconds."""

    rows: int
    windows: int
    first: Span
    until: int
    """The greatest end of them."""


@dataclass(frozen=True)
class RestateResult:
    """What a restatement of one stage did: `rows` late or closed out of `windows`, and what a backfill made of those.

    `backfilled` is None where there was nothing to restate. Rows that wait for their windows to expire are not counted
    among `rows`.
    """

    stage: str
    rows: int = 0
    windows: int = 0
    spans: int = 0
    backfilled: BackfillResult | None = None
    waiting: Waiting | None = None


def restate(
    pipeline: Pipeline,
    spark: SparkSession,
    stage: str | None = None,
    dry_run: bool = False,
    clock: Callable[[], int] = clock_micros,
    run: str | None = None,
) -> list[RestateResult]:
    """Count the rows that were late for a window, or closed out of it, and that no backfill has counted.

    Only windows that have such rows and have expired are recomputed, and those between two that are neighbours; the
    differences are committed in one step a stage. Windows that have not expired wait, and are named. A second
    restatement finds nothing to do. Where the pipeline has quality suites, nothing is committed before its gates have
    passed; a dry run has no gates. What a `run` with a name has published stands in the audits, for a scheduler, also
    where a try of it was killed. Errors: SpecError, GateFailed.
    """
    if stage is not None:
        pipeline.stage(stage)
    work = PipelineWork.open(pipeline, spark, clock=clock)
    if run is not None:
        Restatement(work, run, MINUS_INFINITY, INFINITY).settle()
    name = run or f"{KIND}-{uuid4().hex[:12]}"
    results: list[RestateResult] = []
    for level in work.levels:
        late = {item.name: _find(work, item, dry_run) for item in level if stage in (None, item.name)}
        requests = {of: Request(found.spans, KIND) for of, found in late.items() if found.spans}
        made: dict[str, BackfillResult] = {}
        if requests:
            goes_on = any(result.backfilled is not None for result in results)
            restatement = Restatement.of(work, name, requests, goes_on)
            made = {one.stage: one for one in (restatement.whole(dry_run) if run is None else restatement.staged())}
        results += [
            RestateResult(of, found.rows, found.windows, len(found.spans), made.get(of), found.waiting)
            for of, found in late.items()
        ]
    return results


@dataclass
class Restatement(Backfill):
    """A backfill that knows for each stage which windows it recomputes; [start, end) holds them all.

    It is over stages of which none reads another. Those behind are another one under the same name, to which what was
    corrected in front has come: it `goes_on`.
    """

    requests: Mapping[str, Request] = field(default_factory=dict)
    goes_on: bool = False

    @classmethod
    def of(cls, work: PipelineWork, run: str, requests: Mapping[str, Request], goes_on: bool = False) -> Restatement:
        starts, ends = zip(*(span for request in requests.values() for span in request.spans), strict=True)
        return cls(work, run, min(starts), max(ends), requests=requests, goes_on=goes_on)

    @property
    def stages(self) -> list[StageWork]:
        return [item for item in self.work.stages if item.name in self.requests]

    def request_of(self, item: StageWork) -> Request:
        return self.requests[item.name]

    def _begins_at(self) -> int | None:
        return None if self.goes_on else super()._begins_at()

    def _begun(self) -> dict[str, int]:
        """A run begins once: what it has published of stages in front, or in a try that was killed, stands."""
        begun = self._run.found().get((BEGIN, ""))
        return super()._begun() if begun is None else dict(begun["steps"])


@dataclass(frozen=True)
class _Found:
    spans: tuple[Span, ...]
    rows: int
    windows: int
    waiting: Waiting | None


def _find(work: PipelineWork, item: StageWork, dry_run: bool) -> _Found:
    """The late windows of a stage: those that can be restated, as spans of their starts, and those that wait."""
    if work.upstreams_of(item) and not dry_run:
        follow(work, item)
    catch_up(work, item)
    admitted(work, item, dry_run)
    last = item.runner.last
    if last is None:
        return _Found((), 0, 0, None)
    out, late_span = files_in_quarantine(work, item), item.runner.stage.windows.late_span
    letters = LateWindows.of(work.spark, work.lake, item.name, out, late_span)
    is_by_clock = has_stream(last) or item.runner.strategy.ends_by_cells
    expired_end = item.runner.admission.expired_end if is_by_clock else INFINITY
    first = whole_from(item.runner)
    ready: list[Late] = []
    waits: list[Late] = letters.waiting(expired_end)
    found = [late for late in letters.expired(expired_end) if late.starts[0] >= first]
    for late, is_ready in zip(found, _are_ready(work, item, found), strict=True):
        (ready if is_ready else waits).append(late)
    spans = joined_spans([late.starts for late in ready], MOST_SPANS)
    return _Found(spans, sum(x.rows for x in ready), sum(x.windows for x in ready), _waiting(waits))


def _are_ready(work: PipelineWork, item: StageWork, found: list[Late]) -> list[bool]:
    """Whether all windows that start in each span are a backfill's, with all that they would merge with."""
    ready = [_is_ready(item, late) for late in found]
    last = item.runner.last
    if last is not None and item.runner.strategy.follows_panes:
        return [one and not open_one for one, open_one in zip(ready, _have_open(work, item, found), strict=True)]
    if not any(ready) or last is None or not item.runner.strategy.is_made_whole:
        return ready
    scope = scope_of(work, item, Request(tuple(late.starts for late in found), KIND), dry_run=True)
    assert scope is not None, "there are late rows"
    around = widened(work, item, scope, item.runner.upstream.rows(work.spark, scope.offsets))
    are_open = around.first_open(scope.until)[1]
    return [is_ready and not is_open for is_ready, is_open in zip(ready, are_open, strict=True)]


def _have_open(work: PipelineWork, item: StageWork, found: list[Late]) -> list[bool]:
    """Whether an open window starts in each span."""
    cells = item.runner.journal.cells(work.spark, None, item.runner.clock.expired_end)
    if cells is None or not found:
        return [False] * len(found)
    flags = {f"_{i}": call("bool_or", starts_in((late.starts,), col(WINDOW_START))) for i, late in enumerate(found)}
    return [bool(value) for value in group(cells, (), flags).collect()[0]]


def _is_ready(item: StageWork, late: Late) -> bool:
    """Whether all windows that start in the span are a backfill's."""
    try:
        check(item, late.starts)
    except NotYet:
        return False
    return True


def _waiting(waits: list[Late]) -> Waiting | None:
    if not waits:
        return None
    first = min(late.first for late in waits)
    return Waiting(sum(x.rows for x in waits), sum(x.windows for x in waits), first, max(x.end for x in waits))


def joined_spans(spans: list[Span], most: int) -> tuple[Span, ...]:
    """At most so many spans that hold all of these, in order: those that are nearest to each other become one."""
    ordered = sorted(spans)
    if len(ordered) <= most:
        return tuple(ordered)
    gaps = sorted(range(1, len(ordered)), key=lambda i: ordered[i - 1][1] - ordered[i][0])  # the widest first
    cuts = [0, *sorted(gaps[: most - 1]), len(ordered)]
    return tuple((ordered[first][0], ordered[behind - 1][1]) for first, behind in pairwise(cuts))
