"""`windrow step` as a job for `spark-submit`, in the session that it gives; the arguments are those of the command.

The steps, in their order: land, gate_rows, compute, gate_results, publish, report. `--through` has those behind the
first made too, up to the one that it names. `--run` names the run in the audits and the staging area, and is the same
for all of its steps. Ends with exit code 0; 3 where a gate stopped; 4 where, with
`--wait`, windows have not expired; 2 for a wrong file or option; 75, or what a signal gives, where the step should be
tried again. A scheduler gives each job a name, `--attempt`, and looks up in the audits how each step has ended:
`windrow.store.journal.outcomes`.
"""

import sys
from collections.abc import Sequence

from windrow.cli.submitted import run_job


def main(arguments: Sequence[str]) -> None:
    """Run the step, and end with its exit code."""
    run_job("step", arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
