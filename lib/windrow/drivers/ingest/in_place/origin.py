"""What a source that is read in place has to say: what is ahead in its log, and the rows of what has landed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import SparkSession

from windrow.sources.verdicts import Rules
from windrow.store.delta.log.commits import Commit, Notes
from windrow.store.upstream.in_place import Part, RawInPlace, Reader, Step


@dataclass(frozen=True)
class Portion:
    """What will be a part of a step, as `Part` says it."""

    version: int
    files: int
    offset: str
    action: str

    def part(self, step: int, number: int, clock: int, rules: Rules) -> Part:
        return Part(step, number, self.version, self.files, self.offset, self.action, clock, rules_json(rules))


@dataclass(frozen=True)
class Next:
    """What the next step reads, and the notes of where it ends. `is_far`: a step is worth its while without rows."""

    portions: Sequence[Portion]
    notes: Notes
    is_far: bool = False


class Origin(Reader, Protocol):
    """The log that a source is."""

    def look(self, spark: SparkSession) -> None:
        """What is there now is what lands. Errors: SpecError where there is nothing that could be read."""

    def next(self, spark: SparkSession, raw: RawInPlace, last: Commit | None) -> Next:
        """What is next behind the last step, of what was there at the last look. Errors: SpecError."""

    def landed(self, spark: SparkSession, parts: tuple[Part, ...]) -> Step:
        """The parts as they land, with what is known of their rows. Errors: SpecError, SourceUnavailable."""

    def expect(self, columns: frozenset[str] | None) -> None:
        """Somebody is about to read these columns of what lands, in lower case; None: nobody is."""


def rules_json(rules: Rules) -> str:
    """The rules that judge the rows of a part: it keeps them, as a suite may change later."""
    return json.dumps([rule.to_mapping() for rule in rules])
