"""What a run waits for, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.view.text.times import about, moment


class Stands(Protocol):
    """A stage whose watermark is to reach `until`; microseconds."""

    @property
    def stage(self) -> str: ...
    @property
    def until(self) -> int: ...
    @property
    def watermark(self) -> int: ...
    @property
    def has_stream(self) -> bool: ...
    @property
    def newest(self) -> int | None: ...
    @property
    def is_over(self) -> bool: ...


class Landed(Protocol):
    """The newest landing step of a source, 0 before the first, and when it was committed."""

    @property
    def source(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def at(self) -> int | None: ...


class WaitsFor(Protocol):
    """Stages and their sources."""

    @property
    def stages(self) -> Sequence[Stands]: ...
    @property
    def sources(self) -> Sequence[Landed]: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def is_left_to_streams(self) -> bool: ...
    @property
    def has_new(self) -> bool: ...


def waits_text(waits: WaitsFor, now: int) -> str:
    """One line: how far each stage has to go, how old is what it shows, when the sources landed, and who lands.

    `now` is in microseconds.
    """
    if waits.is_over:
        return f"{_names(waits.stages)}: the windows of the interval have expired"
    behind = [stage for stage in waits.stages if not stage.is_over]
    stages = [f"{_stands(stage)}, {_shows(stage, now)}" for stage in behind]
    return "; ".join([*stages, *map(_landed, waits.sources), _lands(waits, behind)])


def _lands(waits: WaitsFor, behind: Sequence[Stands]) -> str:
    if waits.is_left_to_streams:
        return f"a stream lands for {_names(behind)}"
    if waits.has_new:
        return "no stream lands and something may have come, so the task lands next"
    return "nothing new has come to land"


def _names(stages: Sequence[Stands]) -> str:
    return ", ".join(stage.stage for stage in stages)


def _stands(stage: Stands) -> str:
    if stage.watermark == MINUS_INFINITY:
        return f"{stage.stage}: the watermark is not known, waits for {moment(stage.until)}"
    left = "" if stage.until == INFINITY else f", {about(stage.until - stage.watermark)} to go"
    return f"{stage.stage}: the watermark stands at {moment(stage.watermark)}, waits for {moment(stage.until)}{left}"


def _shows(stage: Stands, now: int) -> str:
    if stage.newest is None:
        return "shows nothing yet"
    age = f", {about(now - stage.newest)} ago" if now > stage.newest else ""
    return f"shows windows up to {moment(stage.newest)}{age}"


def _landed(source: Landed) -> str:
    if not source.step:
        return f"{source.source} has landed nothing"
    when = "" if source.at is None else f" at {moment(_whole_seconds(source.at))}"
    return f"{source.source} landed step {source.step} last{when}"


def _whole_seconds(micros: int) -> int:
    return micros - micros % SECOND
