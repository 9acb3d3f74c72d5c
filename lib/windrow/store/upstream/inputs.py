"""The logs that a stage reads, as one. Rules: docs/semantics.md#ticks, docs/semantics.md#several-inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.engine.tick.inputs import as_one, numbered
from windrow.engine.tick.statistics import LandedRows
from windrow.store.upstream.base import Upstream
from windrow.store.upstream.offsets import START, Offsets, steps_between


@dataclass(frozen=True)
class InputLogs:
    """The logs of a stage's inputs by their names."""

    logs: Mapping[str, Upstream]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the sources and stages that are read, each once."""
        return tuple(dict.fromkeys(log.name for log in self.logs.values()))

    @property
    def are_several(self) -> bool:
        """Whether a tick takes steps of several logs together."""
        return len(self.logs) > 1

    def head(self, spark: SparkSession) -> Offsets:
        """The newest step of each log."""
        return Offsets({name: log.last_step(spark) for name, log in self.logs.items()})

    def quarantined(self, spark: SparkSession) -> Offsets:
        """The last step of each log that took rows out of earlier ones."""
        return Offsets({name: log.quarantined(spark) for name, log in self.logs.items()})

    def step_of(self, upstream: str, offsets: Offsets) -> int:
        """How far a source or stage is read; where several inputs read it, by the one that is farthest behind."""
        return min(offsets.of(name) for name, log in self.logs.items() if log.name == upstream)

    def all_have(self, steps: int, after: Offsets, head: Offsets) -> bool:
        """Whether each log has so many steps that have not been read. More of them change no tick that takes those."""
        return all(head.of(name) - after.of(name) >= steps for name in self.logs)

    def steps_between(self, after: Offsets, until: Offsets) -> int:
        """How many steps until has read and after has not; those of a log that several inputs read count once."""
        return steps_between(after, until, {name: log.name for name, log in self.logs.items()})

    def parts(
        self, spark: SparkSession, after: Offsets, until: Offsets, only: Collection[str] | None = None
    ) -> dict[str, DataFrame]:
        """The rows between two offsets of each input that may have some, or of these only, with their envelope."""
        names = [*self.logs]
        return {
            name: numbered(self.logs[name].rows(spark, first, last), name, names)
            for name, (first, last) in self._spans(after, until).items()
            if (only is None or name in only) and self.logs[name].has_rows(first, last)
        }

    def narrow(self, spark: SparkSession, after: Offsets, until: Offsets) -> dict[str, DataFrame]:
        """Those of these rows that it takes less to read without what no stage uses."""
        names = [*self.logs]
        found = {n: self.logs[n].narrow(spark, *span) for n, span in self._spans(after, until).items()}
        return {name: numbered(rows, name, names) for name, rows in found.items() if rows is not None}

    def landed(self, spark: SparkSession, after: Offsets, until: Offsets) -> dict[str, LandedRows]:
        """What is known of the rows between two offsets without a look at them, of the inputs where that is enough."""
        found = {n: self.logs[n].landed(spark, *span) for n, span in self._spans(after, until).items()}
        return {name: rows for name, rows in found.items() if rows is not None}

    def rows(self, spark: SparkSession, until: Offsets) -> DataFrame:
        """All rows up to these offsets; `engine.tick.inputs.parted` gives back those of each input."""
        spans = self._spans(START, until)
        return as_one({name: self.logs[name].rows(spark, *span) for name, span in spans.items()}, [*self.logs])

    def _spans(self, after: Offsets, until: Offsets) -> dict[str, tuple[int, int]]:
        """The steps after < step <= until of each log that has been read further."""
        return {name: (after.of(name), until.of(name)) for name in self.logs if until.of(name) > after.of(name)}
