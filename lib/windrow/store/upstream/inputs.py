"""The logs that a stage reads, as one. Rules: docs/semantics.md#ticks, docs/semantics.md#several-inputs.

How far several logs are read is one number, their *place*: the step of the only one, or the steps of all of them in
one whole number. A stage goes forward only, so that of two of its places one is behind the other in every log, and
they compare as their numbers do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.engine.tick.inputs import as_one, numbered
from windrow.spec.stages.graph import ONLY
from windrow.store.upstream.base import Upstream

BITS = 40
"""Of the number of a step, in a place."""


@dataclass(frozen=True)
class InputLogs:
    """The logs of a stage's inputs by their names; the only one has the name `ONLY`."""

    logs: Mapping[str, Upstream]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the sources and stages that are read, each once."""
        return tuple(dict.fromkeys(log.name for log in self.logs.values()))

    def steps(self, place: int) -> dict[str, int]:
        """The step of each log."""
        if len(self.logs) == 1:
            return dict.fromkeys(self.logs, place)
        return {name: place >> (BITS * number) & ((1 << BITS) - 1) for number, name in enumerate(self.logs)}

    def place(self, steps: Mapping[str, int]) -> int:
        """The place with these steps."""
        return sum(steps[name] << (BITS * number) for number, name in enumerate(self.logs))

    def step_of(self, upstream: str, place: int) -> int:
        """The step of the log of a source or stage; the least, where several inputs read it."""
        steps = self.steps(place)
        return min(steps[name] for name, log in self.logs.items() if log.name == upstream)

    def last_step(self, spark: SparkSession) -> int:
        """The newest place; 0 where no log has a step."""
        return self.place({name: log.last_step(spark) for name, log in self.logs.items()})

    def next(self, after: int, most: int, *ends: int) -> int:
        """The place at most so many steps of each log behind another, and not behind one of the ends.

        An end that was seen before others have come further holds nothing back.
        """
        limits = [self.steps(end) for end in ends]
        return self.place(
            {
                name: max(step, min(step + most, *(limit[name] for limit in limits)))
                for name, step in self.steps(after).items()
            }
        )

    def number(self, after: int, until: int) -> int:
        """How many steps there are between two places; those of a log that several inputs read count once."""
        before, between = self.steps(after), dict.fromkeys(self.names, 0)
        for name, step in self.steps(until).items():
            upstream = self.logs[name].name
            between[upstream] = max(between[upstream], step - before[name])
        return sum(between.values())

    def in_words(self, place: int) -> str:
        """A place for people: the step, or those of each input."""
        steps = self.steps(place)
        return str(place) if len(steps) == 1 else ", ".join(f"{name} {step}" for name, step in steps.items())

    def with_step(self, place: int, name: str, step: int) -> int:
        """A place with another step of one log."""
        return self.place({**self.steps(place), name: step})

    def parts(self, spark: SparkSession, after: int, until: int) -> dict[str, DataFrame]:
        """The rows of the steps after < step <= until of each input that may have some, with their envelope."""
        first, last, names = self.steps(after), self.steps(until), [*self.logs]
        ends = {name: last[name] for name in names if last[name] > first[name]}
        return {
            name: numbered(self.logs[name].rows(spark, first[name], end), name, names)
            for name, end in ends.items()
            if self.logs[name].has_rows(first[name], end)
        }

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The rows of the steps after < step <= until; `engine.inputs.parted` gives back those of each input."""
        first = self.steps(after)
        if [*self.logs] == [ONLY]:
            return self.logs[ONLY].rows(spark, after, until)
        ends = {name: step for name, step in self.steps(until).items() if step > first[name]}
        return as_one({name: self.logs[name].rows(spark, first[name], end) for name, end in ends.items()}, [*self.logs])

    def quarantined(self, spark: SparkSession) -> int:
        """The place of the last steps that took rows out of earlier ones; 0 where there is none."""
        return self.place({name: log.quarantined(spark) for name, log in self.logs.items()})
