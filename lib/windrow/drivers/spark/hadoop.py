"""Hadoop's configuration without what nothing reads in a session on this machine.

Spark copies it for every scan and write, and sends a scan's copy to its tasks, each property by itself. Two thirds of
the 1,100 are the defaults of YARN and of MapReduce's daemons. Without them a small tick takes 15 % less of the CPU.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

UNREAD = (
    "yarn.", "mapreduce.am.", "mapreduce.app-submission.", "mapreduce.client.", "mapreduce.cluster.",
    "mapreduce.ifile.", "mapreduce.job.", "mapreduce.jobhistory.", "mapreduce.jvm.", "mapreduce.map.",
    "mapreduce.reduce.", "mapreduce.shuffle.", "mapreduce.task.",
)  # fmt: skip
"""What their names begin with. Those of input and output formats stay."""


def drop_unread_properties(spark: SparkSession) -> None:
    """Take them out of the configuration that all sessions of this JVM copy, where that is the only one.

    By a few calls of the JVM: one for each property would take seconds where other threads of Python are at work.
    """
    context: Any = spark.sparkContext._jsc
    if not str(spark.sparkContext.master).startswith("local"):
        return
    configuration = context.hadoopConfiguration()
    names = str(configuration.getPropsWithPrefix("").keySet().toString()).strip("[]").split(", ")
    unread = ",".join(name for name in names if name.startswith(UNREAD))
    java: Any = spark.sparkContext._jvm
    java.org.apache.hadoop.util.StringUtils.getStringCollection(unread).forEach(_unset(java, configuration))


def _unset(java: Any, configuration: Any) -> Any:
    """The method of the configuration that takes one out, as what the elements of a collection can be handed to."""
    handles, text = java.java.lang.invoke, java.java.lang.Class.forName("java.lang.String")
    kind = handles.MethodType.methodType(java.java.lang.Void.TYPE, text)
    unset = handles.MethodHandles.publicLookup().bind(configuration, "unset", kind)
    consumer = java.java.lang.Class.forName("java.util.function.Consumer")
    return handles.MethodHandleProxies.asInterfaceInstance(consumer, unset)
