"""What a run has published, and which of its expectations warn, as its audits tell it; read without Spark."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Audits
from windrow.store.reading.generations import newest_generations
from windrow.store.reading.tables import Tables


@dataclass(frozen=True)
class Published:
    """What a run over the windows that start in [start, end) has changed of a stage, in a tick of a generation.

    `start`, `end` and `at`, when it was published, are microseconds; the numbers are windows.
    """

    stage: str
    generation: int
    start: int
    end: int
    tick: int
    inserted: int
    changed: int
    retracted: int
    at: int

    @property
    def is_any(self) -> bool:
        return bool(self.inserted or self.changed or self.retracted)


_FIELDS = ("stage", "start", "end", "tick", "inserted", "changed", "retracted")


def published_in(tables: Tables, lake: Lake, run: str) -> list[Published]:
    """What a run has changed of the generations that are shown, in each of its commits.

    Also before it began anew: what was killed behind a commit is made again, and then finds nothing to change.
    Raises NotReadable where only Spark reads the lake.
    """
    rows = [row for row in Audits.of(lake).recorded(tables, {run}) if row.step == "publish"]
    committed = {(row.result["stage"], row.result["tick"]): row for row in rows if row.result["tick"] is not None}
    generations = newest_generations(tables, lake.internal("generations")) if committed else {}
    numbers = {stage: one.number for stage, one in generations.items()}
    published = [
        Published(generation=numbers[stage], at=row.at, **{name: row.result[name] for name in _FIELDS})
        for (stage, _), row in committed.items()
        if stage in numbers and row.result.get("generation", numbers[stage]) == numbers[stage]
    ]
    return [one for one in published if one.is_any]


def warnings_in(tables: Tables, lake: Lake, run: str) -> list[str]:
    """The broken expectations of a run that do not stop it, each with its figure. Raises NotReadable."""
    found = Audits.of(lake).read_run(tables, run)
    gates = [GateResult.from_mapping(result) for (step, _), result in found.items() if step == "gate"]
    return [
        f"{gate.subject}: {judgement.expectation}: {judgement.figure}"
        for gate in gates
        for judgement in gate.broken
        if judgement.severity is Severity.WARNING and not judgement.stops
    ]
