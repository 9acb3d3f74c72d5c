"""The contract of every stage: stream = backfill = restatement = reconcile, and all of them what plain Python finds.

A pipeline has a stage for each family of windows, over one source whose rows are late and poisoned. It is streamed
once, in two runs, and drained; then late rows are counted; then a batch makes the same tables in a lake of its own.
The stages of `OFTEN` have a lake, and those of the long tests another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.lake import POISON, ROWS, pipeline, write_files
from tests.plain import Sums, Window, summed
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline import runner
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.counting import in_windows
from windrow.drivers.recompute.publish.commit import BackfillResult
from windrow.drivers.recompute.reconcile import Reconciliation, reconcile
from windrow.drivers.recompute.restate import RestateResult, restate
from windrow.drivers.spark.session import working_session
from windrow.drivers.stream.stream import run
from windrow.extend import CustomWindows
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, HOUR, MINUTE, SECOND, parse_time
from windrow.spec.windows.all import WINDOW_FUNCTIONS
from windrow.store.delta.location import Lake
from windrow.view.reconcile import reconciled_text
from windrow.view.status import StageStatus

FILES = 3
START = parse_time("2024-01-01T00:00:00Z")
SPAN = (START - 2 * DAY, START + 2 * DAY)
SECOND_MINUTE = (START + HOUR + MINUTE, START + HOUR + 2 * MINUTE)

SKETCHES: dict[str, Any] = {
    "about": {"approx_count_distinct": "v"},
    "ranks": {"quantiles": {"of": "v", "at": [0.5]}},
    "frequent": {"approx_top": {"of": "v", "count": 2}},
}
PUT_TOGETHER: dict[str, Any] = {
    "num": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "v"}, "some": {"any": "v > 8"},
    "every": {"all": "v > -3"}, "kinds": {"collect_set": "v"}, "largest": {"top": {"of": "v", "count": 3}},
    "buckets": {"histogram": {"of": "v", "bounds": [0, 5]}},
}  # fmt: skip
"""Aggregates whose panes can be put together where each has what is new."""
AT_END: dict[str, Any] = {"trigger": "default", "accumulation": "accumulating", "allowed_lateness": "0s"}
"""Windows that show one pane, as they expire: a tick keeps partials of these, and forms no cells."""

STAGES: Mapping[str, Mapping[str, Any]] = {
    "fixed": {"window": {"fixed": {"size": "20s"}}, "added": SKETCHES},
    "inherited": {
        "window": {"inherited": {}}, "from": "fixed", "select": {}, "derive": {}, "allowed_lateness": "10m",
        "aggregates": {"num": {"sum": "num"}, "total": {"sum": "total"}},
    },
    "growing": {"window": {"cumulative": {"size": "40s", "step": "10s"}}, "accumulation": "accumulating"},
    "parts": {
        "window": {"fixed": {"size": "20s", "phase": "by_key"}}, "accumulation": "discarding", "derive": {},
        "aggregates": PUT_TOGETHER,
    },
    "own": {"window": {"around": {"before": "v", "after": "1000000", "most": "2s"}}, "accumulation": "accumulating"},
    "sessions": {"window": {"sessions": {"gap": "4s", "max_session": "5s"}}, "allowed_lateness": "0s"},
    "records": {"window": {"record": {"difference": "4s", "resolution": "1s"}}, "allowed_lateness": "0s"},
    "everything": {"window": {"global": {}}, "trigger": {"repeat": {"after_count": 20}}},
    "by_key_at_end": {"window": {"fixed": {"size": "30s", "phase": "by_key"}}, **AT_END},
    "sliding_at_end": {"window": {"sliding": {"size": "50s", "period": "20s", "offset": "5s"}}, **AT_END},
    "gaps_at_end": {"window": {"sliding": {"size": "20s", "period": "30s"}}, **AT_END},
    "cumulative_at_end": {"window": {"cumulative": {"size": "60s", "step": "20s"}}, **AT_END},
    "days_at_end": {"window": {"calendar": {"unit": "day", "zone": "Atlantic/Azores"}}, **AT_END},
}  # fmt: skip
"""In what the stages differ from that of `tests/lake.py`. The first row comes at midnight on the Azores."""
EARLY_AND_LATE = ("fixed", "growing", "parts")
"""Stages that show windows before their end, at it, and behind it."""
RETRACTING = ("fixed", "inherited", "sessions", "records")
MERGING = ("sessions", "records")
"""Stages in which a late row changes other windows too than those that it was late for."""
WITHOUT_LATE = ("inherited", "everything", "days_at_end")
"""Stages for which nothing is late: they have time enough, or their last windows end with the stream."""
BACKFILLED = ("fixed", "growing", "own", "by_key_at_end")
"""Stages whose late rows a backfill of everything counts. Those of the others are restated."""
OPEN = ("growing", "own", "sessions", "records")
"""Stages that batches look at before the stream has ended, when some of their windows are open."""
COMPARED_AGAIN = ("fixed", "inherited", "own", "sessions", "records", "sliding_at_end")
"""Stages that are reconciled once more when late rows have been counted: one for each way of keeping windows."""
OFTEN = (*COMPARED_AGAIN, "growing")
"""Stages whose tests are in every run; those of the others are long."""


def of_stages(names: Collection[str]) -> pytest.MarkDecorator:
    """A test for each of these stages."""
    found = [name if name in OFTEN else pytest.param(name, marks=pytest.mark.long) for name in names]
    return pytest.mark.parametrize("stage", found)


each = of_stages(STAGES)


def beside_each_other(stage: str) -> tuple[str, ...]:
    """The stages of the lake of this one."""
    return tuple(name for name in STAGES if (name in OFTEN) == (stage in OFTEN))


def of_all_families(root: Path, names: Collection[str] = tuple(STAGES)) -> Pipeline:
    """The pipeline over the files of `root`, two of which are a landing batch, with its lake there."""
    plain = pipeline(root, allowed_lateness="10s").to_mapping()
    (first,) = plain["stages"]
    stages = []
    for name in names:
        fields = STAGES[name]
        stage = {**first, "from": "clicks", "name": name, **fields}
        stage["aggregates"] = {**stage["aggregates"], **stage.pop("added", {})}
        stages.append(stage)
    plain["sources"][0]["files"]["max_files_per_batch"] = 2
    extensions = ["tests.extensions.windows"]
    return Pipeline.from_mapping({**plain, "lake": str(root / "lake"), "extensions": extensions, "stages": stages})


def expected(stage: str) -> dict[Window, Sums]:
    """What plain Python finds: for the stage behind the first, what that one shows."""
    made = of_all_families(Path("nowhere"))
    return summed(made.stage("fixed" if stage == "inherited" else stage).window, range(FILES))


Rows = list[dict[str, Any]]
Stages = tuple[str, ...]


def table(root: Path, stage: str, name: str) -> Rows:
    """The rows of a table, with times in microseconds."""
    found = DeltaTable(str(root / "lake" / stage / name)).to_pyarrow_table()
    for number, field in enumerate(found.schema):
        if str(field.type).startswith("timestamp"):
            found = found.set_column(number, field.name, found.column(number).cast("int64"))
    rows: Rows = found.to_pylist()
    return rows


def window_of(row: Mapping[str, Any]) -> Window:
    return row["k"], row["window_start"], row["window_end"]


def sums_of(panes: Rows) -> dict[Window, Sums]:
    """The windows that these panes show, with several of one window put together."""
    found: dict[Window, Sums] = {}
    for row in panes:
        num, total = found.get(window_of(row), (0, 0))
        found[window_of(row)] = (num + row["num"], total + row["total"])
    return found


def late_windows(letters: Rows) -> set[Window]:
    """The windows for which rows were late."""
    late = [row for row in letters if row["reason"] == "late"]
    return {(json.loads(row["element"]).get("k"), row["window_start"], row["window_end"]) for row in late}


def without(late: set[Window], windows: Mapping[Window, Sums], stage: str) -> dict[Window, Sums]:
    """The windows that no late row would have changed; where windows merge, those that none of these touches."""

    def is_late(window: Window) -> bool:
        if stage not in MERGING:
            return window in late
        (key, start, end) = window
        return any(key == other and first <= end and start <= last for other, first, last in late)  # type: ignore[operator]

    return {window: sums for window, sums in windows.items() if not is_late(window)}


# ---------------------------------------------------------------- the lake


@dataclass(frozen=True)
class Beside:
    """What batches of a stage find when the stream has not ended, and what they say if all windows shall be whole."""

    backfilled: BackfillResult
    refused: str
    reconciled: Reconciliation


@dataclass(frozen=True)
class Streamed:
    """A lake that was streamed to the end, before anybody counted late rows."""

    root: Path
    stages: Stages
    beside: Mapping[str, Beside]
    current: Mapping[str, Rows]
    panes: Mapping[str, Rows]
    letters: Mapping[str, Rows]
    reconciled: Mapping[str, Reconciliation]
    status: Mapping[str, StageStatus]


@dataclass(frozen=True)
class Restated:
    """The same lake when all late rows have been counted, by `BACKFILLED` and by restatements."""

    backfilled: Mapping[str, BackfillResult]
    restated: Mapping[str, RestateResult]
    again: tuple[BackfillResult, RestateResult] | None
    """A second backfill, of a stage with sketches, and a second restatement, of sessions; where these stages are."""
    reconciled: Mapping[str, Reconciliation]
    in_second_minute: Mapping[str, object]
    """How many rows the audit of a backfill counts there."""


def by_stage(results: Iterable[Any]) -> dict[str, Any]:
    return {result.stage: result for result in results}


@pytest.fixture(scope="module")
def lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Stages], Streamed]:
    """The lake of these stages, made once."""
    return cache(lambda stages: stream(spark, tmp_path_factory.mktemp("contract"), stages))


@pytest.fixture
def streamed(lakes: Callable[[Stages], Streamed], stage: str) -> Streamed:
    """The lake of the stage of a test."""
    return lakes(beside_each_other(stage))


def stream(spark: SparkSession, root: Path, stages: Stages) -> Streamed:
    made = of_all_families(root, stages)
    write_files(root / "data", range(FILES - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "COMPACT_EVERY", 1)
        run(made, spark, once=True)
    beside = {stage: meet_open_windows(spark, only(made, stage)) for stage in OPEN if stage in stages}
    write_files(root / "data", range(FILES))
    run(made, spark, once=True, drain=True)
    reconciled = by_stage(reconcile(made, spark))
    current, panes, letters = (
        {stage: table(root, stage, name) for stage in stages} for name in ("current", "panes", "dead_letters")
    )
    return Streamed(root, stages, beside, current, panes, letters, reconciled, by_stage(status(made, spark)[1]))


def only(made: Pipeline, *stages: str) -> Pipeline:
    """The pipeline with these stages, which is opened sooner."""
    return replace(made, stages=tuple(made.stage(stage) for stage in stages))


def meet_open_windows(spark: SparkSession, made: Pipeline) -> Beside:
    (backfilled,) = backfill(made, spark, *SPAN, dry_run=True)
    with pytest.raises(SpecError) as error:
        backfill(made, spark, *SPAN, whole=True)
    (reconciled,) = reconcile(made, spark)
    return Beside(backfilled, str(error.value), reconciled)


@pytest.fixture(scope="module")
def recounted(spark: SparkSession, lakes: Callable[[Stages], Streamed]) -> Callable[[Stages], Restated]:
    """The lake of these stages with its late rows, which are counted once."""
    return cache(lambda stages: with_late_rows(spark, lakes(stages)))


@pytest.fixture
def restated(recounted: Callable[[Stages], Restated], stage: str) -> Restated:
    """The lake of the stage of a test, with late rows."""
    return recounted(beside_each_other(stage))


def with_late_rows(spark: SparkSession, streamed: Streamed) -> Restated:
    made = of_all_families(streamed.root, streamed.stages)
    backfilled, compared = ([one for one in names if one in streamed.stages] for names in (BACKFILLED, COMPARED_AGAIN))
    work = PipelineWork.open(only(made, *backfilled), spark)
    first = by_stage(Backfill(work, "all", *SPAN).whole(dry_run=False))
    rest = by_stage(restate(made, spark))
    again = None
    if {"fixed", "sessions"} <= set(streamed.stages):
        (second,), (nothing,) = backfill(only(made, "fixed"), spark, *SPAN), restate(only(made, "sessions"), spark)
        again = second, nothing
    counts = {item.name: in_windows(work.spark, item, (SECOND_MINUTE,), item.runner.offsets) for item in work.stages}
    assigned = {stage: counted["assigned"] for stage, counted in counts.items()}
    reconciled = by_stage(reconcile(only(made, *compared), spark)) if compared else {}
    return Restated(first, rest, again, reconciled, assigned)


@pytest.fixture(scope="module")
def alone(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a lake over the same files, of all stages, that only a batch has made."""
    root = tmp_path_factory.mktemp("alone")
    write_files(root / "data", range(FILES))
    made = of_all_families(root)
    for source in made.sources:
        Landing(working_session(spark), source, Lake.of(made.lake), clock_micros).run()
    assert all(one.inserted == one.windows > 0 for one in backfill(made, spark, *SPAN, whole=True))
    return root


# ---------------------------------------------------------------- the contract


@of_stages(OPEN)
def test_windows_that_are_open_are_the_streams(streamed: Streamed, stage: str) -> None:
    beside = streamed.beside[stage]
    waiting = beside.backfilled.waiting
    assert waiting is not None and waiting.windows > 0
    assert "open in the stream" in beside.refused
    assert beside.reconciled.equal, beside.reconciled


@each
def test_every_row_is_somewhere(streamed: Streamed, stage: str) -> None:
    found = streamed.status[stage]
    assert found.adds_up and found.open_cells == 0 and found.batches_behind == 0
    assert found.read == FILES * (ROWS + POISON) or stage == "inherited"


@each
def test_panes(streamed: Streamed, stage: str) -> None:
    """Windows that fire at their end do so once; of the others, all kinds of panes are shown."""
    kinds = {(row["timing"], row["trigger"], row["pane_index"], row["is_last"]) for row in streamed.panes[stage]}
    if stage.endswith("_at_end"):
        assert kinds == {("on_time", "at_watermark", 0, True)}
    if stage in EARLY_AND_LATE:
        assert {timing for timing, *_ in kinds} == {"early", "on_time", "late"}
    side_by_side = [count for count in Counter(map(window_of, streamed.current[stage])).values() if count > 1]
    assert bool(side_by_side) == (stage == "parts")


@each
def test_a_stream_is_what_a_batch_gives_but_for_late_rows(streamed: Streamed, stage: str) -> None:
    found = streamed.reconciled[stage]
    assert found.equal and found.windows > 0, found
    assert (found.late_rows > 0) == (found.late_windows > 0) == (stage not in WITHOUT_LATE), found
    assert found.not_compared == (tuple(SKETCHES) if stage == "fixed" else ())


@each
def test_a_stream_is_what_python_finds_but_for_late_windows(streamed: Streamed, stage: str) -> None:
    late = late_windows(streamed.letters["fixed" if stage == "inherited" else stage])
    rest = without(late, expected(stage), stage)
    assert rest and without(late, sums_of(streamed.current[stage]), stage) == rest


@each
def test_late_rows_are_counted_once(streamed: Streamed, restated: Restated, stage: str) -> None:
    before, rest = streamed.reconciled[stage], restated.restated[stage]
    result = restated.backfilled.get(stage, rest.backfilled)
    was_late = stage == "inherited" or stage not in WITHOUT_LATE  # for that one what was corrected in front of it is
    if stage in BACKFILLED or not was_late:
        assert rest.rows == 0 and rest.backfilled is None
    elif stage != "inherited":
        assert rest.rows == before.late_rows and rest.waiting is None
    assert (result is not None and result.tick is not None) == was_late
    if result is not None and stage not in (*MERGING, "inherited"):
        assert result.inserted + result.changed == before.late_windows
    letters = [row for row in table(streamed.root, stage, "dead_letters") if row["reason"] == "late"]
    assert bool(letters) == was_late and all(row["restated_by"] is not None for row in letters)


@of_stages(COMPARED_AGAIN)
def test_with_late_rows_it_is_what_a_batch_gives(restated: Restated, stage: str) -> None:
    found = restated.reconciled[stage]
    assert found.equal and found.late_rows == 0 and found.windows > 0, found


@each
def test_with_late_rows_it_is_what_python_finds(streamed: Streamed, restated: Restated, stage: str) -> None:
    assert sums_of(table(streamed.root, stage, "current")) == expected(stage)


@of_stages(RETRACTING)
def test_the_net_of_all_changes_is_current(streamed: Streamed, restated: Restated, stage: str) -> None:
    made = of_all_families(streamed.root).stage(stage)
    names = ["k", "window_start", "window_end", "pane_index", *made.result_columns]
    net: Counter[str] = Counter()
    for row in table(streamed.root, stage, "panes"):
        net[repr([row[name] for name in names])] += row["weight"]
    current = Counter(repr([row[name] for name in names]) for row in table(streamed.root, stage, "current"))
    assert current and {row: weight for row, weight in net.items() if weight} == current


@of_stages(BACKFILLED)
def test_rows_of_an_interval_are_those_of_its_windows(streamed: Streamed, restated: Restated, stage: str) -> None:
    """The rows of the windows that start in a minute, whatever else is near."""
    first, last = SECOND_MINUTE
    inside = [row["num"] for row in table(streamed.root, stage, "current") if first <= row["window_start"] < last]
    assert restated.in_second_minute[stage] == sum(inside) > 0


@pytest.mark.long
@each
def test_a_batch_into_a_lake_of_its_own_gives_the_same(
    streamed: Streamed, restated: Restated, alone: Path, stage: str
) -> None:
    made = of_all_families(streamed.root).stage(stage)
    ours, theirs = (table(root, stage, "current") for root in (streamed.root, alone))
    if stage == "parts":  # whose panes stand side by side in one of them
        assert sums_of(ours) == sums_of(theirs)
        return
    names = [name for name in made.result_columns if name not in SKETCHES]
    stream, batch = ({window_of(row): [row[name] for name in names] for row in rows} for rows in (ours, theirs))
    assert stream == batch and len(stream) == len(ours) == len(theirs)


# ---------------------------------------------------------------- what is seen on the way


def test_every_window_function_has_a_stage() -> None:
    of_windrow = {name for name, window in WINDOW_FUNCTIONS.items() if not issubclass(window, CustomWindows)}
    assert {name for stage in STAGES.values() for name in stage["window"]} >= of_windrow


@of_stages(["sessions"])
def test_a_second_time_there_is_nothing_to_do(restated: Restated, stage: str) -> None:
    """Neither for a backfill, which compares no sketches, nor for a restatement."""
    assert restated.again is not None
    backfilled, rest = restated.again
    assert backfilled.tick is None and backfilled.changed == backfilled.inserted == backfilled.retracted == 0
    assert rest.rows == 0 and rest.backfilled is None


@of_stages(["sessions"])
def test_sessions_longer_than_expected_are_counted(streamed: Streamed, stage: str) -> None:
    longer = [row for row in streamed.current[stage] if row["window_end"] - row["window_start"] > 5 * SECOND]
    assert sum(row["outgrown"] for row in table(streamed.root, stage, "ticks")) >= len(longer) > 0


@of_stages(["fixed"])
def test_sketches_are_shown_and_said_not_to_be_compared(streamed: Streamed, stage: str) -> None:
    said = reconciled_text(streamed.reconciled[stage], 100)
    assert "(sketches are not compared: about, ranks, frequent)" in said
    for row in streamed.current[stage]:
        assert row["about"] > 0 and row["frequent"] and len(row["ranks"]) == 1
