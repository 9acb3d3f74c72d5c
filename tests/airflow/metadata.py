"""What Airflow's own database says: who takes slots of pools, and what waits in its triggerer."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

USED = """
select pool, sum(pool_slots) from task_instance where state in ('queued', 'running') group by pool
"""
"""As Airflow counts the slots of a pool that does not include deferred tasks."""
DEFERRED = """
select dag_id, run_id, task_id, classpath, triggerer_id from task_instance join "trigger" as t on trigger_id = t.id
where state = 'deferred'
"""


class Deferred(NamedTuple):
    """A task that waits, the class of its trigger, and the triggerer that has taken it; None until one has."""

    dag: str
    run: str
    task: str
    trigger: str
    triggerer: int | None


def asked(home: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query, of the database in an Airflow's home."""
    with closing(sqlite3.connect(f"file:{home}/airflow.db?mode=ro", uri=True, timeout=30)) as database:
        return database.execute(query).fetchall()


def used_slots(home: Path) -> Counter[str]:
    """The slots that are taken now, by pool."""
    return Counter(dict(asked(home, USED)))


def deferred(home: Path) -> list[Deferred]:
    """The tasks that wait now."""
    return [Deferred(*row) for row in asked(home, DEFERRED)]


@contextmanager
def most_slots(home: Path, every: float = 0.2) -> Iterator[Counter[str]]:
    """The most slots that were taken at any moment within, by pool."""
    most: Counter[str] = Counter()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(every):
            for pool, slots in used_slots(home).items():
                most[pool] = max(most[pool], slots)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield most
    finally:
        ended.set()
        looking.join()
