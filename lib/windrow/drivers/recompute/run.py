"""A run of a backfill as its steps know it: a name, a span of window starts, and what its steps have found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from windrow.drivers.inspect.findings import findings
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.store.journal.audits import Audits, Finding, Found


@dataclass(frozen=True)
class Run:
    """The run `name` over the windows of `stages` that start in [start, end), in microseconds."""

    work: PipelineWork
    name: str
    start: int
    end: int
    stages: tuple[str, ...]

    def record(self, step: str, subject: str, found: Found) -> None:
        """Keep what a step has found about a source or a stage."""
        self.record_all([(step, subject, found, None)])

    def record_all(self, findings: Iterable[Finding]) -> None:
        """Keep several findings in one commit."""
        about = {"start": self.start, "end": self.end, "stages": list(self.stages)}
        made = [(step, subject, {**found, **about}, at) for step, subject, found, at in findings]
        self._audits.record_all(self.work.spark, self.name, made)

    def found(self) -> Mapping[tuple[str, str], Found]:
        """What the steps have found since the run last began, by step and subject."""
        return findings(self.work.lake, self.work.spark, self.name)

    @property
    def _audits(self) -> Audits:
        return Audits.of(self.work.lake)
