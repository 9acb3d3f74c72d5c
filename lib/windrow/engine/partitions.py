"""How many partitions a shuffle has, and whether plans adapt: by the size of the work and the cores of the cluster.

Unless somebody has said it. Spark has one number for all work. A tick of few rows in as many tasks as a large cluster
has cores would spend its time starting them, and leave as many small files; many rows in few tasks would not find room
in their memory. In the same way Spark's adaptive planning costs a small tick more than it gives, and gives a large one
more than it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:  # a client of Spark Connect has none
    from pyspark import SparkContext

PARTITIONS = "spark.sql.shuffle.partitions"
ADAPTIVE = "spark.sql.adaptive.enabled"
CHOSEN: Mapping[str, str] = {
    PARTITIONS: "spark.windrow.shuffle.partitions",
    ADAPTIVE: "spark.windrow.adaptive.enabled",
}
"""What windrow has chosen for a session. If Spark's setting has another value, somebody else wants it, and it stays."""

LEAST, MOST, UNKNOWN = 25_000, 10_000_000, 250_000
"""Rows for which a task is worth its start; with more than those a core has several tasks, one after the other; and
those of a task where nobody knows how many cores there will be."""
LARGE = 20_000_000
"""Work over so many rows is planned as it goes: to plan it again after each shuffle takes a tenth of a second, and then
Spark knows how large each partition is, joins what is small without a shuffle, and splits what is skewed."""
OF_BATCHES = 4
"""The partitions of a batch for each core, of which Spark puts small ones together."""
FEW = 2
"""With so few cores there is nothing to choose: all of them have a task, whatever the work."""
ANY = 200
"""The partitions where neither the work nor the cores are known: Spark's own number."""

_UNSAID: Mapping[str, str | None] = {PARTITIONS: str(2**31 - 1), ADAPTIVE: None}
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
    context = spark.sparkContext
    if str(context.master).startswith("local"):
        return _cores_here(context)
    conf, known = spark.conf, max(FEW, _running(context))
    each = int(str(conf.get("spark.executor.cores", "1"))) // max(1, int(str(conf.get("spark.task.cpus", "1"))))
    if str(conf.get("spark.dynamicAllocation.enabled", "false")).lower() == "true":
        most = str(conf.get("spark.dynamicAllocation.maxExecutors", ""))
        return max(known, int(most) * each) if most.isdigit() and int(most) < 2**31 - 1 else None
    return max(known, int(str(conf.get("spark.executor.instances", "0"))) * each)


@lru_cache(maxsize=4)
def _cores_here(context: SparkContext) -> int:
    """Those of a JVM that does all work itself. They stay as they are, so that a tick need not ask for them."""
    return _running(context)


def _running(context: SparkContext) -> int:
    """The tasks that the executors which are there run at once. `defaultParallelism` is what a user wants it to be."""
    java = context._jsc.sc()
    return int(java.maxNumConcurrentTasks(java.resourceProfileManager().defaultResourceProfile()))


def said_by_others(spark: SparkSession, name: str) -> str | None:
    """The value of one of the settings that the user or the cluster wants in a session; None where nobody has said."""
    said = spark.conf.get(name, _UNSAID[name])
    return None if said in (_UNSAID[name], spark.conf.get(CHOSEN[name], "")) else str(said)


def choose_partitions(spark: SparkSession, session: SparkSession, is_batch: bool = False) -> None:
    """Give a session of windrow's own what the caller's session says, or else a partition for each core, as planned.

    Both may be the same session: it is then told what holds with the cores of now. A batch may be over any number of
    rows. On more than a few cores it is planned as it goes, from several partitions for each core, of which Spark puts
    small ones together.
    """
    cores = cores_of(spark)
    number, adapts = partitions_for(None, cores), is_batch and (cores is None or cores > FEW)
    chosen = {PARTITIONS: str(number if cores is None or not adapts else number * OF_BATCHES)}
    chosen[ADAPTIVE] = str(adapts).lower()
    for name, value in chosen.items():
        said = said_by_others(spark, name)
        if said is None:
            _choose(session, name, value)
        else:
            session.conf.set(name, said)


@contextmanager
def sized(spark: SparkSession, rows: Callable[[], int | None] = lambda: None) -> Iterator[None]:
    """Within, a session plans for work over so many rows, as far as others have not said how.

    On few cores it does nothing, and asks nothing of the JVM: a tick there costs what it would cost without. It does
    nothing through Spark Connect either, where nobody knows the cores and Spark plans as it goes.
    """
    is_remote = getattr(spark, "_sc", None) is None
    cores = None if is_remote else cores_of(spark)
    if is_remote or (cores is not None and cores <= FEW):
        yield
        return
    before = {name: str(spark.conf.get(marker, "")) for name, marker in CHOSEN.items()}
    free = [name for name, value in before.items() if value and said_by_others(spark, name) is None]
    changed = {name: value for name, value in _for(rows() if free else None, cores).items() if name in free}
    changed = {name: value for name, value in changed.items() if value != before[name]}
    for name, value in changed.items():
        _choose(spark, name, value)
    try:
        yield
    finally:
        for name in changed:
            _choose(spark, name, before[name])


def _for(rows: int | None, cores: int | None) -> dict[str, str]:
    is_large = rows is not None and rows >= LARGE
    return {PARTITIONS: str(partitions_for(rows, cores)), ADAPTIVE: str(is_large).lower()}


def _choose(spark: SparkSession, name: str, value: str) -> None:
    for one in (name, CHOSEN[name]):
        spark.conf.set(one, value)
