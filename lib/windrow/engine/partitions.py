"""How many partitions a shuffle has: by the size of the work and the cores of the cluster, unless somebody has said it.

Spark has one number for all work. A tick of few rows in as many tasks as a large cluster has cores would spend its time
starting them, and leave as many small files; many rows in few tasks would not find room in their memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
CHOSEN = "spark.windrow.shuffle.partitions"
"""The number that windrow has chosen for a session. Another one in `PARTITIONS` is somebody else's, and stays."""

LEAST, MOST, UNKNOWN = 25_000, 10_000_000, 250_000
"""Rows for which a task is worth its start; with more than those a core has several tasks, one after the other; and
those of a task where nobody knows how many cores there will be."""
FEW = 2
"""With so few cores there is nothing to choose: all of them have a task, whatever the work."""
ANY = 200
"""The partitions where neither the work nor the cores are known: Spark's own number."""

_UNSAID = str(2**31 - 1)
"""No number of partitions. Spark refuses defaults that are no such number."""


def partitions_for(rows: int | None, cores: int | None) -> int:
    """The partitions for work over so many rows: no more than the cores, until these are too few for so many rows.

    Where the rows are not known, as many as the cores.
    """
    if cores is None:
        return ANY if rows is None else max(FEW, -(-rows // UNKNOWN))
    if rows is None or cores <= FEW:
        return cores
    return min(max(FEW, -(-rows // LEAST)), cores * max(1, -(-rows // (cores * MOST))))


def cores_of(spark: SparkSession) -> int | None:
    """The tasks that a session's cluster runs at once: those of its executors, or of those it has been asked for.

    None where executors come and go, and nobody has said how many at most.
    """
    conf, known = spark.conf, int(spark.sparkContext.defaultParallelism)
    if str(spark.sparkContext.master).startswith("local"):
        return known
    each = int(str(conf.get("spark.executor.cores", "1"))) // max(1, int(str(conf.get("spark.task.cpus", "1"))))
    if str(conf.get("spark.dynamicAllocation.enabled", "false")).lower() == "true":
        most = str(conf.get("spark.dynamicAllocation.maxExecutors", ""))
        return max(known, int(most) * each) if most.isdigit() and int(most) < 2**31 - 1 else None
    return max(known, int(str(conf.get("spark.executor.instances", "0"))) * each)


def said_by_others(spark: SparkSession) -> str | None:
    """The number of partitions that the user or the cluster wants in a session; None where nobody has said one."""
    said = str(spark.conf.get(PARTITIONS, _UNSAID))
    return None if said in (_UNSAID, spark.conf.get(CHOSEN, "")) else said


def choose_partitions(spark: SparkSession, session: SparkSession) -> None:
    """Give a session of windrow's own the partitions that the caller's session says, or else one for each core."""
    said = said_by_others(spark)
    if said is None:
        _choose(session, partitions_for(None, cores_of(spark)))
    else:
        session.conf.set(PARTITIONS, said)


@contextmanager
def sized(spark: SparkSession, rows: Callable[[], int | None] = lambda: None) -> Iterator[None]:
    """Within, shuffles of a session have partitions for work over so many rows, unless others have said how many."""
    before = str(spark.conf.get(CHOSEN, ""))
    if not before or said_by_others(spark) is not None:
        yield
        return
    cores = cores_of(spark)
    number = cores if cores is not None and cores <= FEW else partitions_for(rows(), cores)
    if str(number) == before:
        yield
        return
    _choose(spark, number)
    try:
        yield
    finally:
        _choose(spark, int(before))


def _choose(spark: SparkSession, number: int) -> None:
    for name in (PARTITIONS, CHOSEN):
        spark.conf.set(name, str(number))
