"""What became of transcripts, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.view.text.times import many


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


def summary(cases: Sequence[CheckedCase]) -> str:
    """How many there were of each outcome."""
    numbers = {outcome: sum(case.outcome == outcome for case in cases) for outcome in ("passed", "failed", "refused")}
    refused = f", {numbers['refused']:,} refused (not in this version)" if numbers["refused"] else ""
    return f"{many(len(cases), 'case')}: {numbers['passed']:,} passed, {numbers['failed']:,} failed{refused}"


def file_text(file: str, cases: Sequence[CheckedCase]) -> str:
    """How many cases of a file passed, those that failed with their messages, and those that were refused."""
    return "\n".join(_lines(file, cases))


def _lines(file: str, cases: Sequence[CheckedCase]) -> Iterator[str]:
    if not cases:
        yield f"{file}: holds no case: none of its documents has a field of a transcript"
        return
    passed = sum(case.outcome == "passed" for case in cases)
    yield f"{file}: {passed:,} of {many(len(cases), 'case')} passed"
    for case in cases:
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
