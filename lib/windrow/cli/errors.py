"""What a failed command says, and the exit code that it ends with."""

from __future__ import annotations

import os
import re

from windrow.sources.java_words import in_one_line
from windrow.spec.errors import SourceUnavailable, SpecError, WindowsWait
from windrow.spec.quality.judgements import GateFailed

FAILED = 1
"""It ran, and the answer is no; or it could not go on."""
WRONG_INPUT = 2
"""A wrong file or option."""
INTERRUPTED = 130
"""Ctrl-C before there was anything to end in order."""

TRACE = "WINDROW_TRACE"
"""The environment variable that has the traces of any error shown, Python's and the JVM's."""


def exit_code(error: Exception) -> int | None:
    """2 for what the user wrote, 1 for what went wrong while it ran; None where the Python trace shall be seen."""
    if os.environ.get(TRACE):
        return None
    return WRONG_INPUT if isinstance(error, SpecError) or _is_missing_path(error) else FAILED


def shown_plainly(error: Exception) -> str:
    """The error in words, in one paragraph."""
    if isinstance(error, SpecError):
        return f"windrow: {error}"
    if isinstance(error, GateFailed):
        shown = "windrow report FILE" if error.run == "stream" else f"windrow report FILE --run {error.run}"
        return f"windrow: {error}. Hint: {shown} has every expectation with its figure"
    if isinstance(error, WindowsWait):
        return f"windrow: waits: {error}"
    if isinstance(error, SourceUnavailable):
        hint = "what was committed stays; run it again when the source is there"
        return f"windrow: {error}. Hint: {hint}"
    other = _other_writer(error)
    if other is not None:
        return (
            f"windrow: another writer is at work on this lake: {other}. This run has stopped; everything that either "
            "has committed stays and is right. Hint: let one `windrow run` at a time write to a lake, and start this "
            "one again when the other has ended"
        )
    failed = re.search(r"AggregateFailed: (aggregates\..+)", str(error))
    if failed is not None:
        return f"windrow: {failed[1].strip()}. Hint: nothing of that tick was kept; mend the function and run again"
    if _is_missing_path(error):
        path = str(error).split("does not exist:")[-1].split(". SQLSTATE")[0].strip()
        return f'windrow: the files of a source must be there; got "{path}". Hint: sources.files.path, or --project DIR'
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    return (
        f"windrow: the command could not go on{', '.join(['', *notes[:1]])}: {in_one_line(error).removesuffix('.')}. "
        f"Hint: what was committed stays, and the command can be run again; {TRACE}=1 shows where it happened"
    )


def _other_writer(error: Exception) -> str | None:
    """What another writer did, where that is what the error says: at a tick, in the landing query, or at a table."""
    if type(error).__name__ == "StepTaken":
        return str(error)
    in_landing = re.search(r"StepTaken: (step \d+ of .+ was written by .+)", str(error))
    if in_landing is not None:
        return in_landing[1].strip()
    if any(base.__module__.startswith("delta.exceptions") for base in type(error).__mro__):  # all are of this kind
        return "it has made or changed a table at the same time"
    return None


def _is_missing_path(error: Exception) -> bool:
    return "[PATH_NOT_FOUND]" in str(error)
