"""The newest generation of every stage, read from their log (`windrow.store.journal.generations`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windrow.store.delta.location import Location
from windrow.store.reading.tables import Tables


@dataclass(frozen=True)
class Generation:
    """A generation of a stage, and its fingerprint: the fields whose change makes another result."""

    number: int
    fingerprint: Mapping[str, Any]


def newest_generations(tables: Tables, log: Location) -> dict[str, Generation]:
    """By stage; none where nothing has run."""
    return {stage: generation for stage, generation in _all(tables, log)}


def generation_of(tables: Tables, log: Location, stage: str, number: int) -> Generation | None:
    """That generation of a stage, as it was recorded last; None where there is none."""
    found = [one for of, one in _all(tables, log) if of == stage and one.number == number]
    return found[-1] if found else None


def _all(tables: Tables, log: Location) -> list[tuple[str, Generation]]:
    """All that was recorded, with its stage, in that order."""
    table = tables.open(log)
    batches = [] if table is None else table.rows(("stage", "generation", "fingerprint", "step"))
    rows = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: int(row["step"]))
    return [(row["stage"], Generation(row["generation"], json.loads(row["fingerprint"]))) for row in rows]
