"""What a failed command says, and the exit code that it ends with."""

from __future__ import annotations

import os
import re

from windrow.sources.java_words import in_one_line
from windrow.spec.errors import FAILED, TRY_AGAIN, WRONG_INPUT, WindrowError, another_writer

INTERRUPTED = 130
"""Ctrl-C before there was anything to end in order."""

TRACE = "WINDROW_TRACE"
"""The environment variable that has the traces of any error shown, Python's and the JVM's."""


def shows_traces() -> bool:
    """Whether the user has asked for the traces of errors."""
    return bool(os.environ.get(TRACE))


def exit_code(error: Exception) -> int:
    """2 for what the user wrote, 1 for what went wrong while it ran."""
    if _is_missing_path(error):
        return WRONG_INPUT
    return error.exit_code if isinstance(error, WindrowError) else FAILED


def step_code(error: Exception) -> int:
    """The exit code of a step: what a scheduler needs to know, whether trying again could give anything else."""
    return error.step_code if isinstance(error, WindrowError) else TRY_AGAIN


def shown_plainly(error: Exception) -> str:
    """The error in words, in one paragraph."""
    if isinstance(error, WindrowError):
        return f"windrow: {error.in_words}"
    if _is_of_delta(error):
        return f"windrow: {another_writer('it has made or changed a table at the same time')}"
    failed = re.search(r"AggregateFailed: (aggregates\..+)", str(error))
    if failed is not None:  # it comes from another process, as text
        return f"windrow: {failed[1].strip()}. Hint: nothing of that tick was kept; fix the function and run again"
    if _is_missing_path(error):
        path = str(error).split("does not exist:")[-1].split(". SQLSTATE")[0].strip()
        return f'windrow: the files of a source must be there; got "{path}". Hint: sources.files.path, or --project DIR'
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    return (
        f"windrow: the command could not go on{', '.join(['', *notes[:1]])}: {in_one_line(error).removesuffix('.')}. "
        f"Hint: what was committed stays, and the command can be run again; {TRACE}=1 shows where it happened"
    )


def _is_of_delta(error: Exception) -> bool:
    """Whether it is one of Delta's own, which all say that somebody else has written to a table."""
    return any(base.__module__.startswith("delta.exceptions") for base in type(error).__mro__)


def _is_missing_path(error: Exception) -> bool:
    condition = getattr(error, "getCondition", None)
    return condition is not None and condition() == "PATH_NOT_FOUND"
