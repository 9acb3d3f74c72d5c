"""Runs Flink SQL, in an environment of its own: it knows neither windrow nor the rest of the bench.

Each line of the standard input is a job as JSON: its `settings`, the statements that make its tables (`tables`), and
the `insert` that is measured. The answer is a line with `seconds` or `error`. The first line out has Flink's version.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any


def main() -> None:
    """Answer job after job, until the input ends."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    say({"version": version("apache-flink")})
    for line in sys.stdin:
        job = json.loads(line)
        environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        try:
            for name, value in job["settings"].items():
                environment.get_config().set(name, value)
            for statement in job["tables"]:
                environment.execute_sql(statement)
            started = time.monotonic()
            environment.execute_sql(job["insert"]).wait()
            say({"seconds": time.monotonic() - started})
        except Exception as error:
            causes = [line for line in str(error).splitlines() if line.startswith("Caused by:")]
            say({"error": " ".join(causes[-1:]) or str(error)[:1000]})


def say(answer: dict[str, Any]) -> None:
    """One line of JSON."""
    print("answer " + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
