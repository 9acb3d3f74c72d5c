"""The control row of a tick: where the stage's clocks stand, what it has consumed, and what it counted.

It is a row of the same commit as the transitions of the tick, kept as one JSON text, so that what a later version adds
needs no change of the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from windrow.engine.clocks.clock import InputClock, PartitionClock, StageClock
from windrow.engine.tick.counters import NOTHING, Counters
from windrow.engine.tick.published import Made
from windrow.spec.errors import SpecError
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.store.upstream.offsets import Offsets


@dataclass(frozen=True)
class Interval:
    """Windows that start in [start, end) and end at or before `until`, which a backfill made of the rows up to
    `offsets`.

    `tick` is the backfill's own, so that dead letters before it are known to be restated. `streamed`: there was a
    stream then, so that only windows were made which had expired in it. `restates`: late rows of these windows count in
    them from then on.
    """

    start: int
    end: int
    offsets: Offsets
    tick: int
    streamed: bool = False
    until: int = INFINITY
    restates: bool = True

    @property
    def made(self) -> Made:
        return Made(self.start, self.end, self.until)

    def to_mapping(self) -> dict[str, Any]:
        """As plain values that JSON can hold."""
        return {**vars(self), "offsets": dict(self.offsets.steps)}

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Interval:
        return cls(**{**values, "offsets": Offsets(values["offsets"])})

    def is_within(self, later: Interval) -> bool:
        """Whether a later one has made all of its windows, from no fewer rows."""
        holds = later.start <= self.start and self.end <= later.end and self.until <= later.until
        return holds and later.offsets.covers(self.offsets) and (later.restates or not self.restates)


CONTROL, DEAD_LETTER = "control", "dead_letter"
"""The kinds of those rows of a journal that are no transitions."""

STREAM = "stream"
"""The kind of the ticks that a stream makes."""
FOLLOW = "follow"
"""The kind of such a tick that another has made, who needed the stage to be at the head of the one that it reads."""
READING = (STREAM, FOLLOW)
BACKFILL = "backfill"
"""The kind of a tick by which a batch publishes windows."""
ADMISSION = "admission"
"""The kind of a tick by which a batch has read what landed: it moves the clock and leaves dead letters, no panes."""

FORGETTING = "forgetting"
"""The kind of a tick that takes a person's rows out of the journal, and makes what they were part of anew."""


@dataclass(frozen=True)
class TickRows:
    """What the transitions of a tick are, beside what it counted.

    `changed` are panes and retractions that change what was shown; `opened` and `ended` count cells, and `open` is how
    many are open after a tick that has written all of them, None after another. `outgrown` counts those sessions that
    are longer than their stage says that they are; `first_start` and `last_start` are those of windows with panes, None
    without one.
    """

    changed: int = 0
    opened: int = 0
    ended: int = 0
    open: int | None = None
    outgrown: int = 0
    first_start: int | None = None
    last_start: int | None = None


@dataclass(frozen=True)
class Control:
    """What a tick leaves behind beside transitions and dead letters.

    `kind` is stream, follow (a tick like those of a stream, made by someone else who needed it), admission, backfill,
    restatement or forgetting; `offsets` says how far the stage has read, and `streams` whether a stream has, and not
    only batches; `shows` says that a batch has published, early or as last, and `shows_early` that one has published
    windows early, whatever became of them; `watermark_before` is that of the tick; `late_until` the end up to which
    windows had expired for its elements; `counters` what it counted, `rows` what its transitions are; `backfilled` the
    intervals that backfills made so far; `quarantined_files` the files in quarantine whose late rows this one did not
    count.
    """

    tick: int
    kind: str
    offsets: Offsets
    streams: bool
    watermark_before: int
    clock: StageClock
    counters: Counters = NOTHING
    backfilled: tuple[Interval, ...] = ()
    quarantined_files: tuple[str, ...] = ()
    duration_ms: int = 0
    shows: bool = False
    shows_early: bool = False
    late_until: int = MINUS_INFINITY
    rows: TickRows = TickRows()

    @property
    def published(self) -> tuple[Made, ...]:
        """The windows that batches have published without a stream."""
        return tuple(one.made for one in self.backfilled if not one.streamed)

    def to_json(self) -> str:
        return json.dumps(
            {
                "tick": self.tick,
                "kind": self.kind,
                "offsets": dict(self.offsets.steps),
                "streams": self.streams,
                "watermark_before": self.watermark_before,
                **_clock_to_json(self.clock),
                "counts": asdict(self.counters),
                "rows": asdict(self.rows),
                "backfilled": [one.to_mapping() for one in self.backfilled],
                "quarantined_files": list(self.quarantined_files),
                "duration_ms": self.duration_ms,
                "shows": self.shows,
                "shows_early": self.shows_early,
                "late_until": self.late_until,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Control:
        """Raises SpecError for the control row of a version that did not write offsets by input."""
        values: dict[str, Any] = json.loads(text)
        if "offsets" not in values:
            rule = "was written by an earlier version of windrow, which noted otherwise how far a stage has read"
            raise SpecError("journal", rule, None, "run with --from-start: a new generation, rebuilt from raw")
        return cls(
            tick=values["tick"],
            kind=values["kind"],
            offsets=Offsets(values["offsets"]),
            streams=values["streams"],
            watermark_before=values["watermark_before"],
            clock=_clock_from_json(values),
            counters=Counters.of(values["counts"]),
            backfilled=tuple(map(Interval.from_mapping, values["backfilled"])),
            quarantined_files=tuple(values["quarantined_files"]),
            duration_ms=values["duration_ms"],
            shows=values["shows"],
            shows_early=values.get("shows_early", values["shows"]),  # older versions did not say how
            late_until=values["late_until"],
            rows=TickRows(**values["rows"]),
        )

    def lasting(self, duration_ms: int) -> Control:
        return replace(self, duration_ms=duration_ms)


def _clock_to_json(clock: StageClock) -> dict[str, Any]:
    partitions = [[name, p.greatest_event_time, p.last_seen, p.asserted] for name, p in clock.partitions.items()]
    inputs = {name: {"began": one.began, **_clock_to_json(one.clock)} for name, one in clock.inputs.items()}
    return {
        "now": clock.now,
        "watermark": clock.watermark,
        "expired_end": clock.expired_end,
        "greatest_end": clock.greatest_end,
        "partitions": partitions,
        "output_watermark": clock.output_watermark,
        "percentiles": [[percentile, watermark] for percentile, watermark in clock.percentiles.items()],
        **({"inputs": inputs} if inputs else {}),
    }


def _clock_from_json(values: Mapping[str, Any]) -> StageClock:
    inputs = values.get("inputs", {})
    return StageClock(
        now=values["now"],
        watermark=values["watermark"],
        expired_end=values["expired_end"],
        greatest_end=values["greatest_end"],
        partitions={name: PartitionClock(*clock) for name, *clock in values["partitions"]},
        output_watermark=values["output_watermark"],
        percentiles={percentile: watermark for percentile, watermark in values["percentiles"]},
        inputs={name: InputClock(_clock_from_json(one), one["began"]) for name, one in inputs.items()},
    )


@dataclass(frozen=True)
class Stamp:
    """What the commit of a tick says of it in its notes: its kind, and the clocks that the stages behind it need.

    `streams` says that a stream has read by then.
    """

    kind: str
    clock: StageClock
    streams: bool = True

    @classmethod
    def of(cls, control: Control) -> Stamp:
        return cls(control.kind, control.clock, control.streams)

    @property
    def notes(self) -> Mapping[str, Any]:
        return {
            "kind": self.kind, "streams": self.streams, **{name: getattr(self.clock, name) for name in _STAMPED}
        }  # fmt: skip

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> Stamp | None:
        """None where an older version has written fewer."""
        if not notes.keys() >= {"kind", "streams", *_STAMPED}:
            return None
        return cls(notes["kind"], StageClock(**{name: notes[name] for name in _STAMPED}), notes["streams"])


_STAMPED = ("now", "watermark", "expired_end", "output_watermark")


def has_stream(last: Control | None) -> bool:
    """Whether a stream has read anything."""
    return last is not None and last.streams
