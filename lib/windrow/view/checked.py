"""What became of transcripts, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from windrow.view.times import many


@dataclass(frozen=True)
class CheckedCase:
    """A case that passed, failed with `messages`, or was refused with the name of what is not in this version."""

    file: str
    case: str
    refused: str | None
    messages: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """passed, failed or refused."""
        if self.refused is not None:
            return "refused"
        return "failed" if self.messages else "passed"


def checked_text(cases: Sequence[CheckedCase]) -> str:
    """By file: the cases that failed with their messages, those that were refused, and how many passed."""
    return "\n".join([*_lines(cases), "", summary(cases)])


def summary(cases: Sequence[CheckedCase]) -> str:
    """How many there were of each outcome."""
    numbers = {outcome: sum(case.outcome == outcome for case in cases) for outcome in ("passed", "failed", "refused")}
    refused = f", {numbers['refused']:,} refused (not in this version)" if numbers["refused"] else ""
    return f"{many(len(cases), 'case')}: {numbers['passed']:,} passed, {numbers['failed']:,} failed{refused}"


def _lines(cases: Sequence[CheckedCase]) -> Iterator[str]:
    for file, of_file in groupby(cases, key=lambda case: case.file):
        group = list(of_file)
        passed = sum(case.outcome == "passed" for case in group)
        yield f"{file}: {passed:,} of {many(len(group), 'case')} passed"
        for case in group:
            if case.outcome == "failed":
                yield f"  failed   {case.case}"
                yield from (f"             {line}" for message in case.messages for line in message.splitlines())
            elif case.outcome == "refused":
                yield f"  refused  {case.case}: {case.refused}"


def checked_mapping(cases: Sequence[CheckedCase]) -> list[dict[str, Any]]:
    """The same for machines."""
    return [
        {
            "file": case.file,
            "case": case.case,
            "outcome": case.outcome,
            "refused": case.refused,
            "messages": list(case.messages),
        }
        for case in cases
    ]
