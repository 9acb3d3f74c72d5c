"""One run of the test pipeline as a process, which a test kills: `python -m tests.crash.runner ROOT [drain]`."""

import sys
from pathlib import Path

from tests.lake import pipeline
from windrow.run import advance
from windrow.run.session import local_session
from windrow.run.stream import run


def main() -> None:
    """Run what is there, and drain if asked. The base is folded every other tick, so that its points are passed."""
    advance.FOLD_EVERY = 2
    run(pipeline(Path(sys.argv[1])), local_session(), once=True, drain="drain" in sys.argv)


if __name__ == "__main__":
    main()
