"""`windrow job` as a job for `spark-submit`, in the session that it gives; the arguments are those of the command.

The jobs: restate, maintain, stream. `--run` names the run in the audits. Exit codes and `--attempt` are those of a step
(`windrow.cli.jobs.step`).
"""

import sys
from collections.abc import Sequence

from windrow.cli.submitted import run_job


def main(arguments: Sequence[str]) -> None:
    """Do the job, and end with its exit code."""
    run_job("job", arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
