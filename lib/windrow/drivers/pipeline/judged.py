"""What a gate has found, kept in two tables: first in the audits, then in `quality_results`.

A process that is killed between the two writes has left the second undone; the next one that looks up the judgement in
the audits makes up for it, by what stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from pyspark.sql import SparkSession

from windrow.drivers.pipeline.points import point
from windrow.spec.quality.judgements import GateResult
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Found
from windrow.store.projections.quality_results import Judged, QualityResults

JUDGED = "judged"
"""What stands in the audits beside a judgement: the fields of `Judged`."""


@dataclass(frozen=True)
class Judgements:
    """The judgements that a process keeps. `_kept` are those of which it knows that they stand in both tables."""

    spark: SparkSession
    lake: Lake
    _kept: set[tuple[str, str, int]] = field(default_factory=set)

    def keep(self, judged: Judged, result: GateResult, record: Callable[[Found], None]) -> None:
        """Keep what a gate has found; `record` writes it into the audits."""
        record({**result.to_mapping(), JUDGED: asdict(judged)})
        point("gate:after_audits")
        self._results.append(self.spark, judged, result)
        self._kept.add(_name(judged))

    def settle(self, found: Found | None) -> None:
        """Append to `quality_results` what the audits have of a judgement, if it is not there.

        An earlier version has written `quality_results` first, and nothing here to recognise it by.
        """
        if found is None or JUDGED not in found:
            return
        judged = Judged(**found[JUDGED])
        if _name(judged) not in self._kept and not self._results.have(self.spark, judged):
            self._results.append(self.spark, judged, GateResult.from_mapping(found))
        self._kept.add(_name(judged))

    @property
    def _results(self) -> QualityResults:
        return QualityResults.of(self.lake)


def _name(judged: Judged) -> tuple[str, str, int]:
    return judged.run, judged.subject, judged.at
