"""What a gate found: one judgement for each expectation, as plain values that can be kept and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from windrow.spec.errors import GATE_STOPPED, WindrowError
from windrow.spec.quality.broken_rows import BrokenRows
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.fixes import broken_lines, quarantines
from windrow.spec.quality.shares import Shares


class Outcome(StrEnum):
    """Kept, broken, or an error inside the check, which is neither."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


@dataclass(frozen=True)
class Judgement:
    """One expectation of a suite over one set of rows: what came of it, its figure in words, and a few examples.

    `rows_broken` is how many rows broke it, where it is about single rows or keys; `value` is the number that was
    observed, where it is about a column or a table. `broken` says which rows broke it, `shares` in which source
    partitions rows or values are missing.
    """

    expectation: str
    severity: Severity
    outcome: Outcome
    figure: str
    examples: tuple[str, ...] = ()
    broken: BrokenRows | None = None
    rows_broken: int | None = None
    value: float | None = None
    shares: Shares | None = None

    @property
    def stops(self) -> bool:
        """A broken critical one does, and so does every check that could not be made."""
        failed = self.outcome is Outcome.FAILED and self.severity is Severity.CRITICAL
        return failed or self.outcome is Outcome.ERROR

    def to_mapping(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "expectation": self.expectation, "severity": str(self.severity), "outcome": str(self.outcome),
            "figure": self.figure, "examples": list(self.examples),
            "broken": None if self.broken is None else self.broken.to_mapping(),
            "rows_broken": self.rows_broken, "value": self.value,
            "shares": None if self.shares is None else self.shares.to_mapping(),
        }  # fmt: skip

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Judgement:
        """What `to_mapping` wrote."""
        broken, shares = mapping.get("broken"), mapping.get("shares")  # an earlier version has written neither
        return cls(
            mapping["expectation"], Severity(mapping["severity"]), Outcome(mapping["outcome"]), mapping["figure"],
            tuple(mapping["examples"]), None if broken is None else BrokenRows.from_mapping(broken),
            mapping.get("rows_broken"), mapping.get("value"), None if shares is None else Shares.from_mapping(shares),
        )  # fmt: skip


@dataclass(frozen=True)
class GateResult:
    """What a gate found over the rows of `subject`, a source or stage. With no rows it has judged nothing."""

    subject: str
    rows: int
    judgements: tuple[Judgement, ...]

    @property
    def stops(self) -> bool:
        return any(judgement.stops for judgement in self.judgements)

    @property
    def is_certain(self) -> bool:
        """Whether it stops for what is in the data, and not only for a check that could not be made."""
        return any(judgement.stops and judgement.outcome is Outcome.FAILED for judgement in self.judgements)

    @property
    def broken(self) -> tuple[Judgement, ...]:
        """Everything that did not pass."""
        return tuple(judgement for judgement in self.judgements if judgement.outcome is not Outcome.PASSED)

    def to_mapping(self) -> dict[str, Any]:
        """As plain values for JSON."""
        judgements = [judgement.to_mapping() for judgement in self.judgements]
        return {"subject": self.subject, "rows": self.rows, "judgements": judgements}

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> GateResult:
        """What `to_mapping` wrote."""
        judgements = tuple(Judgement.from_mapping(judgement) for judgement in mapping["judgements"])
        return cls(mapping["subject"], mapping["rows"], judgements)


class GateFailed(WindrowError):
    """A gate stopped what was to come after it. `results` are those that stop, `run` is the name of the run.

    `stays` says what people go on seeing, where that is not plain, with `{typed}` for the pipeline. `typed` is how that
    is named on the command line, `report` the page that tells of the run, where one is written.
    """

    typed = "FILE"
    report: str | None = None

    def __init__(self, results: tuple[GateResult, ...], run: str, stays: str | None = None) -> None:
        self.results = results
        self.run = run
        self.stays = stays
        super().__init__("; ".join(_in_words(result) for result in results))
        if any(result.is_certain for result in results):
            self.step_code = GATE_STOPPED

    @property
    def in_words(self) -> str:
        """The expectations with their figures and where the page is, in one line; then rows, files and commands."""
        run = "" if self.run == "stream" else f" --run {self.run}"
        page = f"windrow report {self.typed}{run}" if self.report is None else self.report
        stays = "" if self.stays is None else f"; {self.stays.format(typed=self.typed)}"
        first = f"{self}{stays}. Hint: {page} has every expectation with its figure"
        return "\n  ".join([first, *broken_lines(self.results), *quarantines(self.results, self.typed)])


def _in_words(result: GateResult) -> str:
    stopping = [f"{j.expectation}: {j.figure}" for j in result.judgements if j.stops]
    return f"the gate of {result.subject} stops: {', '.join(stopping)}"
