"""The one place that decides settings of Spark.

What results depend on is windrow's, and whoever asks for something else is refused with the reason
(`windrow.spec.pipelines.spark_settings`). All else is the user's, then the cluster's, and what neither has said is as
windrow would like it. How many partitions a shuffle has, and whether plans adapt, is decided by the work:
`windrow.engine.partitions`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from windrow.drivers.spark.jvm import (
    class_archive,
    code_cache,
    collector,
    driver_memory,
    has_s3,
    logging_of,
    session_jars,
)
from windrow.drivers.spark.object_stores import AS_S3A, COMMITS, of_s3
from windrow.spec.pipelines.spark_settings import CATALOG, EXTENSIONS, check_settings, with_delta
from windrow.spec.pipelines.spark_settings import REQUIRED as NEEDED
from windrow.store.delta.log.put_if_absent import LINKING, LOG_STORE

MASTER = "spark.master"
JARS = "spark.jars"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
ANY_LOG_STORE = "spark.delta.logStore.class"
DEPLOY_MODE = "spark.submit.deployMode"
CLUSTER = "cluster"
"""Where the driver of a job runs elsewhere than where it was submitted."""

REQUIRED: Mapping[str, str] = {name: setting.value for name, setting in NEEDED.items() if name != CATALOG}
"""Settings of every session in which windrow works, whatever those of the cluster and the caller are."""

PREFERRED: Mapping[str, str] = {
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.sql.hive.filesourcePartitionFileCacheSize": "0",  # of folders that nobody lists twice
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",  # read once or twice, soon
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "0",
}
"""Settings of these sessions where neither the cluster nor the caller says otherwise: small ticks take less time. A
MERGE may read its source twice: what it reads is files that do not change. Rows are not sorted by their partitions
before they are written, where a task has at most so many. The texts of plans, made for every query, are short: nobody
sees them without Spark's own pages."""

OF_BATCHES: Mapping[str, str] = {"spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20"}
"""A task groups into a million cells before it needs Spark's slower map. By default that is so from 65,536 on, and both
maps are asked for every row then. The larger map takes some milliseconds to make, which a tick had better not spend."""

INTERPRETED: Mapping[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""Those of a session for a few rows: to compile would take longer than to interpret, and a broadcast is a job."""

STATIC: Mapping[str, str] = {
    "spark.sql.codegen.cache.maxEntries": "5000",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of every JVM of windrow's own, and of a job, where nobody says otherwise."""

LOCAL_COMMITS: Mapping[str, str] = {"spark.delta.logStore.file.impl": LINKING}
"""Who puts commits on a local disk."""

FILE_COMMITS: Mapping[str, str] = {
    "spark.sql.sources.commitProtocolClass":
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol",
}  # fmt: skip
"""How files are committed in a session of windrow's own, where nobody says otherwise."""

LOCAL: Mapping[str, str] = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Those of a JVM that does all work itself. Executors elsewhere must find the driver: there Spark takes this machine's
address, or the one that it is told."""


def master_of(named: str | None, given: Mapping[str, str], known: Mapping[str, str]) -> str:
    """Where a session of windrow's own runs: as named, as the user's settings, this machine or the cluster say."""
    return named or given.get(MASTER) or os.environ.get("WINDROW_MASTER") or known.get(MASTER, "local[*]")


def of_own_session(
    master: str, given: Mapping[str, str], known: Mapping[str, str], s3: bool = False, log_level: str = "fatal"
) -> dict[str, str]:
    """Settings with which a session of windrow's own starts. `given` are the user's, `known` the cluster's defaults.

    With `s3` it reaches S3, where that is set up. Errors: SpecError where a setting would make results wrong, and where
    Delta's jars are not set up.
    """
    check_settings(given)
    preferred = {
        "spark.driver.memory": driver_memory(),
        **STATIC,
        **FILE_COMMITS,
        **LOCAL_COMMITS,
        **(LOCAL if is_local(master) else {}),
        **({**AS_S3A, **of_s3(os.environ)} if s3 and has_s3() else {}),
        **PREFERRED,
    }
    said = {**known, **given}
    if ANY_LOG_STORE in said:  # Delta takes one for all schemes or one for each
        preferred = {name: value for name, value in preferred.items() if name not in (*COMMITS, *LOCAL_COMMITS)}
    theirs = known.get(JAVA_OPTIONS, "")
    ours = [logging_of(log_level), collector(theirs), class_archive(), code_cache(theirs)]
    return {
        **{name: value for name, value in preferred.items() if name not in known},
        JAVA_OPTIONS: " ".join(filter(None, [*ours, theirs])),  # of two options of one name a JVM takes the second
        DEPLOY_MODE: "client",  # the driver is this process, whatever is usual for jobs
        **REQUIRED,
        **given,
        MASTER: master,
        CATALOG: NEEDED[CATALOG].value,
        EXTENSIONS: with_delta(said.get(EXTENSIONS)),
        JARS: ",".join([*session_jars(s3), *filter(None, [said.get(JARS)])]),
    }


def of_submitted_session(
    submitted: Mapping[str, str], known: Mapping[str, str], log_stores: Collection[str]
) -> dict[str, str]:
    """What the session of a job has beside that which it was submitted with. `known` are the cluster's defaults.

    `log_stores` are those of windrow's classes that put commits which its jars have. Errors: SpecError where the user
    has submitted it with a setting that would make results wrong.
    """
    check_submitted(submitted, known)
    commits = {
        **(LOCAL_COMMITS if LINKING in log_stores else {}),
        **(of_s3(os.environ) if LOG_STORE in log_stores else {}),
    }
    wanted = {**STATIC, **commits}
    given = {*submitted, *((*COMMITS, *LOCAL_COMMITS) if ANY_LOG_STORE in submitted else ())}
    return {
        **{name: value for name, value in wanted.items() if name not in given},
        CATALOG: NEEDED[CATALOG].value,
        EXTENSIONS: with_delta(submitted.get(EXTENSIONS)),
    }


def check_submitted(submitted: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Refuse what a job was submitted with that would make results wrong. Errors: SpecError.

    `known` are the defaults of the machine from which it was submitted: they are meant for all jobs, so they are
    overruled. A driver that runs elsewhere does not know those, and overrules all.
    """
    if submitted.get(DEPLOY_MODE) == CLUSTER:
        return
    given = {name: submitted[name] for name in NEEDED if name in submitted}
    check_settings({name: value for name, value in given.items() if known.get(name) != value})


def is_local(master: str) -> bool:
    """Whether a session has no executors but its own JVM."""
    return master.startswith("local")
