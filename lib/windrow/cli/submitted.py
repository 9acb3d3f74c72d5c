"""A command as a job for `spark-submit`, in the session that it gives."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.cli import main
from windrow.cli.session import in_job


def run_job(command: str, arguments: Sequence[str]) -> None:
    """Run a command of windrow as the job that this process is, and end with the exit code of the command."""
    with in_job(f"windrow {command}"):
        main([command, *arguments])
