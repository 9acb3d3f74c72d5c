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

    `start` and `end` are microseconds; the numbers are windows.
    """

    stage: str
    generation: int
    start: int
    end: int
    tick: int
    inserted: int
    changed: int
    withdrawn: int

    @property
    def is_any(self) -> bool:
        return bool(self.inserted or self.changed or self.withdrawn)


_FIELDS = ("stage", "start", "end", "tick", "inserted", "changed", "withdrawn")


def published_in(tables: Tables, lake: Lake, run: str) -> list[Published]:
    """The stages that a run has changed, since it last began. Raises NotReadable where only Spark reads the lake."""
    found = Audits.of(lake).read_run(tables, run)
    committed = [result for (step, _), result in found.items() if step == "publish" and result["tick"] is not None]
    generations = newest_generations(tables, lake.internal("generations")) if committed else {}
    published = [
        Published(generation=generations[result["stage"]].number, **{name: result[name] for name in _FIELDS})
        for result in committed
        if result["stage"] in generations
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
