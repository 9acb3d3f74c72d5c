"""`windrow backfill` as a job for `spark-submit`, in the session that it gives; the arguments are those of the command.

    JARS="$(find .venv/windrow-jars -name '*.jar' | paste -sd,)"
    spark-submit --jars "$JARS" jobs/backfill.py conf/pipelines/flights.yaml \\
        --from 2013-01-01 --to 2013-02-01

`--master` and `--conf` are spark-submit's here.
"""

import sys
from collections.abc import Sequence

from windrow.cli.submitted import run_job


def main(arguments: Sequence[str]) -> None:
    """Run the command, and end with its exit code."""
    run_job("backfill", arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
