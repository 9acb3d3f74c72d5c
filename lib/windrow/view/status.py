"""Where a pipeline stands, in words and as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from windrow.spec.times import format_time
from windrow.view.freshness import StageFreshness, freshness_text
from windrow.view.text.sections import Section
from windrow.view.text.times import many, moment


@dataclass(frozen=True)
class KeptRows:
    """What there is at the path of a source that is read in place of the rows that have landed.

    The rows of the batches from `from_batch` on can be read again. Where a table `is_there`, it has its commits from
    version `oldest_commit` on. It keeps a commit for `keeps_commits`, and for `keeps_files` a file that is in no newer
    version. `has_files`: these are files that are of no table.
    """

    table: str
    is_there: bool
    from_batch: int
    oldest_commit: int = 0
    keeps_commits: str = ""
    keeps_files: str = ""
    is_feed: bool = False
    has_files: bool = False


@dataclass(frozen=True)
class SourceStatus:
    """What has landed: rows, files, landing batches, and the rows that are dead by reason. Times in microseconds.

    `offsets` are the greatest by partition, where the source has such. `kept` is of a source that is read in place.
    """

    source: str
    batches: int
    rows: int = 0
    files: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)
    greatest_event_time: int | None = None
    last_arrival: int | None = None
    offsets: Mapping[str, int] = field(default_factory=dict)
    kept: KeptRows | None = None


@dataclass(frozen=True)
class PartitionStatus:
    """The watermark of a source partition, and whether it is idle, so that it holds the others back no more.

    `last_seen` is the processing time of its last row. All as of the stage's last tick.
    """

    partition: str | None
    watermark: int
    idle: bool
    last_seen: int | None = None

    @property
    def name(self) -> str:
        return "null" if self.partition is None else self.partition


@dataclass(frozen=True)
class InputStatus:
    """What an input of a stage has not read yet of its upstream: landing batches and rows, or ticks and panes."""

    upstream: str
    batches_behind: int = 0
    rows_behind: int = 0
    reads_a_stage: bool = False


@dataclass(frozen=True)
class StageStatus:
    """Where a stage stands. Times in microseconds; `tick` is None where it has not run.

    Rows: `read` = `in_windows` + `filtered` + `unassigned` + the sum of `dead`. Pairs of element and window:
    `assigned` = `aggregated` + `late` + `closed`. `in_raw` are the
    rows that landed up to where the stage has read, by another count than `read`. Panes: `timings` are those that were
    emitted, `retracted` the retractions, `shown` the rows of `current`, which lacks the panes of `ticks_to_refresh`.
    Where `reads_a_stage`, rows are panes of that stage, and batches its ticks. Of the last tick: its `kind`,
    `planning_ms` before its job, and `emits`, whether it has panes or retractions. `held_by` says in words what holds
    the watermark back; `committed_at` is about when the last tick was committed, by the clock of its writer.
    """

    stage: str
    generation: int | None = None
    changed: Sequence[str] = ()
    tick: int | None = None
    kind: str = ""
    planning_ms: int | None = None
    emits: bool = False
    now: int | None = None
    watermark: int | None = None
    partitions: Sequence[PartitionStatus] = ()
    batches_behind: int = 0
    rows_behind: int = 0
    projected_to: int = 0
    ticks_to_refresh: int = 0
    in_raw: int = 0
    read: int = 0
    in_windows: int = 0
    filtered: int = 0
    unassigned: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)
    assigned: int = 0
    late: int = 0
    closed: int = 0
    timings: Mapping[str, int] = field(default_factory=dict)
    retracted: int = 0
    shown: int = 0
    open_cells: int = 0
    backfills: int = 0
    freshness: StageFreshness | None = None
    reads_a_stage: bool = False
    inputs: Sequence[InputStatus] = ()
    held_by: str = ""
    committed_at: int | None = field(default=None, compare=False)

    @property
    def aggregated(self) -> int:
        """The pairs that are in a window."""
        return self.assigned - self.late - self.closed

    @property
    def adds_up(self) -> bool:
        """Whether every row that landed up to here is in exactly one place."""
        return self.in_raw == self.read == self.in_windows + self.filtered + self.unassigned + sum(self.dead.values())


def status_sections(sources: Sequence[SourceStatus], stages: Sequence[StageStatus]) -> list[Section]:
    """One section a source and a stage."""
    return [*map(_source, sources), *map(_stage, stages)]


def status_mapping(sources: Sequence[SourceStatus], stages: Sequence[StageStatus]) -> dict[str, Any]:
    """The same for machines; times in ISO 8601."""
    return {
        "sources": [_with_times(asdict(source)) for source in sources],
        "stages": [
            {
                **_with_times(asdict(stage)),
                "aggregated": stage.aggregated,
                "adds_up": stage.adds_up,
                "freshness": None if stage.freshness is None else stage.freshness.to_mapping(),
            }
            for stage in stages
        ],
    }


_TIMES = {"greatest_event_time", "last_arrival", "last_seen", "now", "watermark", "committed_at"}


def _with_times(values: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: format_time(values[name]) for name in _TIMES & values.keys() if values[name] is not None}
    parts = {"partitions": [_with_times(part) for part in values["partitions"]]} if "partitions" in values else {}
    return {**values, **texts, **parts}


def _source(status: SourceStatus) -> Section:
    if status.batches == 0:
        return Section(f"Source {status.source}", [("landed", ["nothing yet"])])
    files = f" of {many(status.files, 'file')}" if status.files else ""
    landed = f"{many(status.rows, 'row')}{files} in {many(status.batches, 'batch', 'batches')}"
    return Section(
        f"Source {status.source}",
        [
            ("landed", [landed]),
            ("offsets", _offsets(status.offsets)),
            ("dead", [_reasons(status.dead)]),
            ("event time", [f"up to {moment(status.greatest_event_time)}"]),
            ("arrival", [f"up to {moment(status.last_arrival)}"]),
            ("read again", [] if status.kept is None else _kept(status.kept, status.batches)),
        ],
    )


def _kept(kept: KeptRows, batches: int) -> list[str]:
    """From which batch on rows can be read in place again, and from when they could not."""
    if not kept.is_there:
        return [f"no row: there is no table at {kept.table} any more"]
    if kept.from_batch > batches:
        can = f"no row: {kept.table} does not keep what has landed"
    elif kept.from_batch > 1:
        can = f"only from batch {kept.from_batch} on: {kept.table} does not keep all that landed before"
    else:
        can = f"every row, from {kept.table}"
    if kept.has_files:
        return [can, "a file has to stay there as it was when it landed"]
    files = f"a file that OPTIMIZE has replaced, for {kept.keeps_files} until VACUUM removes it"
    if kept.is_feed:
        files = f"the files of a change, for {kept.keeps_files} until VACUUM removes them"
    return [can, f"the table keeps {files}, and a commit for {kept.keeps_commits}: now those from version "
                 f"{kept.oldest_commit} on"]  # fmt: skip


def _offsets(offsets: Mapping[str, int]) -> list[str]:
    return [f"up to {', '.join(f'{offset} in {name}' for name, offset in offsets.items())}"] if offsets else []


def _stage(status: StageStatus) -> Section:
    changed = [f"means something else now: {line}" for line in status.changed]
    if status.tick is None:
        return Section(f"Stage {status.stage}", [("last tick", ["none yet"]), ("changed", changed)])
    return Section(
        f"Stage {status.stage}",
        [
            ("changed", changed),
            ("last tick", [_last_tick(status)]),
            ("watermark", _watermark(status)),
            ("lag", [_lag(status)]),
            ("rows", _rows(status)),
            ("dead rows", [_reasons(status.dead)]),
            ("pairs", [_pairs(status)]),
            ("windows", [f"{status.open_cells:,} open; {_current(status)}"]),
            ("panes", [_panes(status)]),
            ("freshness", [] if status.freshness is None else [freshness_text(status.freshness)]),
        ],
    )


def _last_tick(status: StageStatus) -> str:
    made = many(status.backfills, "backfill or restatement", "backfills and restatements")
    backfills = f"; {made} among the ticks" if status.backfills else ""
    return f"{status.tick} of generation {status.generation}, at {moment(status.now)}{backfills}"


_SHOWN = 20
"""Partitions that are listed: those that hold the watermark back first, idle ones last."""


def _watermark(status: StageStatus) -> list[str]:
    if [part.partition for part in status.partitions] == [None]:
        return [f"{moment(status.watermark)}{_idle(status.partitions[0])}"]
    shown, more = shown_partitions(status)
    lines = [f"  {part.name}: {moment(part.watermark)}{_idle(part)}" for part in shown]
    return [moment(status.watermark), *lines, *([f"  {more}"] if more else [])]


def shown_partitions(status: StageStatus) -> tuple[Sequence[PartitionStatus], str]:
    """The partitions that are listed, and how many more there are: those that hold the watermark back come first."""
    ordered = sorted(status.partitions, key=lambda part: (part.idle, part.watermark, part.name))
    if len(ordered) <= _SHOWN:
        return ordered, ""
    idle = sum(part.idle for part in ordered[_SHOWN:])
    return ordered[:_SHOWN], f"and {many(len(ordered) - _SHOWN, 'more partition')}, {idle:,} of them idle"


def _idle(part: PartitionStatus) -> str:
    return f" ({idle_text(part)})" if part.idle else ""


def idle_text(part: PartitionStatus) -> str:
    """`idle: no row since 2013-01-01 05:00`; empty of a partition that is not."""
    if not part.idle:
        return ""
    return "idle" if part.last_seen is None else f"idle: no row since {moment(part.last_seen)}"


def _lag(status: StageStatus) -> str:
    behind = status.batches_behind
    steps = ("tick", "ticks") if status.reads_a_stage else ("landing batch", "landing batches")
    text = f"{many(behind, *steps)} of {many(status.rows_behind, 'pane' if status.reads_a_stage else 'row')}"
    if behind == 0:
        read = "every tick of the stage that it reads" if status.reads_a_stage else "everything that landed"
        text = f"none: {read} has been read"
    ticks = (status.tick or 0) - status.projected_to
    return f"{text}; the tables are {many(ticks, 'tick')} behind" if ticks > 0 else text


def _rows(status: StageStatus) -> list[str]:
    dead = sum(status.dead.values())
    parts = f"{status.in_windows:,} in windows + {status.filtered:,} filtered + {status.unassigned:,} in no window"
    lines = [f"{status.read:,} read = {parts} + {dead:,} dead"]
    return lines if status.adds_up else [*lines, f"this does not add up to the {status.in_raw:,} rows that landed"]


def _pairs(status: StageStatus) -> str:
    parts = f"{status.aggregated:,} aggregated + {status.late:,} late + {status.closed:,} closed"
    return f"{status.assigned:,} of element and window = {parts}"


def _current(status: StageStatus) -> str:
    behind = status.ticks_to_refresh
    shown = f"{many(status.shown, 'row')} in current"
    return f"{shown}, which lacks the panes of {many(behind, 'tick')}" if behind else shown


def _panes(status: StageStatus) -> str:
    timings = ", ".join(f"{status.timings.get(timing, 0):,} {timing}" for timing in ("early", "on_time", "late"))
    return f"{sum(status.timings.values()):,} emitted ({timings}); {status.retracted:,} retracted"


def _reasons(dead: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in dead.items() if number) or "none"
