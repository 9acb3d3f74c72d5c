"""A command as a job for `spark-submit`, in the session that it gives."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from windrow.cli import main
from windrow.cli.errors import shown_plainly
from windrow.drivers.spark.session import submitted_session
from windrow.spec.errors import SpecError


def run_job(command: str, arguments: Sequence[str]) -> None:
    """Run a command of windrow as the job that this process is, and end with the exit code of the command."""
    try:
        submitted_session(f"windrow {command}")
    except SpecError as error:
        print(shown_plainly(error.within("spark-submit --conf:")), file=sys.stderr)
        sys.exit(error.exit_code)
    main([command, *arguments])
