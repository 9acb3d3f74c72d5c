"""One step of a pipeline's backfill as a job for `spark-submit`, for a scheduler that runs them one after the other.

    JARS="$(find .venv/windrow-jars -name '*.jar' | paste -sd,)"
    spark-submit --jars "$JARS" jobs/step.py \\
        compute conf/pipelines/flights.yaml --from 2013-01-01 --to 2013-01-02 --run monday

The steps and their exit codes are those of `windrow.cli.jobs.step`, which can be submitted as well.
"""

import sys

from windrow.cli.jobs.step import main

if __name__ == "__main__":
    main(sys.argv[1:])
