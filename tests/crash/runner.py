"""One run of the test pipeline as a process, which a test kills: `python -m tests.crash.runner ROOT TASK`.

TASK is once, drain or backfill.
"""

import sys
from pathlib import Path

from tests.lake import judged, pipeline
from windrow.run import advance
from windrow.run.backfill import backfill
from windrow.run.session import local_session
from windrow.run.stream import run
from windrow.spec.times import DAY, parse_time


def main() -> None:
    """Do as asked. The base is folded every other tick, so that its points are passed."""
    root, task = Path(sys.argv[1]), sys.argv[2]
    advance.FOLD_EVERY = 2
    if task == "backfill":
        start = parse_time("2024-01-01T00:00:00Z")
        backfill(judged(root), local_session(), start, start + DAY)
    else:
        run(pipeline(root), local_session(), once=True, drain=task == "drain")


if __name__ == "__main__":
    main()
