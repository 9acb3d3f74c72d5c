"""A Kafka topic as a stream: each message once, with its partition and offset; its JSON value as columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import OFFSET, PARTITION
from windrow.compile.sql.columns import Column, call, col, named
from windrow.sources.json_rows import json_rows
from windrow.spec.errors import SourceUnavailable, SpecError
from windrow.spec.sources.kafka import Kafka
from windrow.spec.sources.source import Source, resolve_environment

_EARLIEST = -2
"""Spark's word for the beginning of a partition."""

_PATIENCE = {"kafka.request.timeout.ms": "10000", "kafka.default.api.timeout.ms": "15000"}
"""How long a client waits for a broker, unless the options say otherwise: the stream asks again by itself."""

_TEXT = "_text"
"""The value of a message."""


def read_kafka(spark: SparkSession, source: Source, kafka: Kafka, landed: Mapping[str, int]) -> DataFrame:
    """A streaming frame of the source's columns with partition, offset and `_raw`.

    `landed` are the greatest offsets that have landed, by partition, where no checkpoint knows them. Errors: SpecError,
    SourceUnavailable.
    """
    options = options_of(kafka)
    partitions = _partitions(spark, source.name, kafka.topic, options)
    reader = spark.readStream.format("kafka").options(**options).option("subscribe", kafka.topic)
    reader = reader.option("startingOffsets", _start(kafka, partitions, landed))
    messages = reader.option("maxOffsetsPerTrigger", kafka.max_offsets_per_batch).load()
    columns = {
        "_key": _text("key"), "_timestamp": col("timestamp"), PARTITION: col("partition").cast("string"),
        OFFSET: col("offset").cast("string"), _TEXT: _text("value"),
    }  # fmt: skip
    texts = messages.selectExpr(*[named(name, column) for name, column in columns.items()])
    return json_rows(texts, source.fields, _TEXT, [name for name in columns if name != _TEXT])


def _text(column: str) -> Column:
    """The bytes as a text that every reader of tables can read."""
    return call("make_valid_utf8", col(column).cast("string"))


def options_of(kafka: Kafka) -> dict[str, str]:
    """The options that Spark's reader takes, with the values of the environment. They are for it alone."""
    given = {name: resolve_environment(value) for name, value in kafka.options.items()}
    return {**_PATIENCE, **given, "kafka.bootstrap.servers": resolve_environment(kafka.servers)}


def _start(kafka: Kafka, partitions: list[int], landed: Mapping[str, int]) -> str:
    """Where a query without a checkpoint starts: behind what has landed, or where the source says.

    A partition of which nothing has landed is then read from its beginning, so that nothing is lost.
    """
    if not landed:
        return str(kafka.start)
    offsets = {str(number): landed[str(number)] + 1 if str(number) in landed else _EARLIEST for number in partitions}
    return json.dumps({kafka.topic: offsets})


def _partitions(spark: SparkSession, source: str, topic: str, options: Mapping[str, str]) -> list[int]:
    """The partitions of the topic, as the brokers say now."""
    java: Any = spark._jvm
    admin_class = java.org.apache.kafka.clients.admin.Admin
    if isinstance(admin_class, JavaPackage):
        raise SpecError(f"sources.{source}.kafka", "needs Kafka's jars, which are not set up", None, "run make setup")
    settings = java.java.util.Properties()
    for name, value in options.items():
        if name.startswith("kafka."):
            settings.setProperty(name.removeprefix("kafka."), value)
    try:
        admin = admin_class.create(settings)
    except Py4JJavaError as error:
        raise _misconfigured(source, error) from None
    try:
        found = admin.describeTopics(java.java.util.Collections.singletonList(topic)).allTopicNames().get()
        return sorted(int(partition.partition()) for partition in found.get(topic).partitions())
    except Py4JJavaError as error:
        raise _refused(source, topic, error) from None
    finally:
        admin.close(java.java.time.Duration.ofSeconds(1))


def _misconfigured(source: str, error: Py4JJavaError) -> SpecError:
    """What Kafka's client says may hold a value of the environment, so only the name of the setting is repeated."""
    words = _words(error)
    setting = re.search(r"(?:configuration|in) ([a-z.]+\.[a-z.]+)", words)
    which = setting[1] if setting is not None else "a setting"
    place = f"sources.{source}.kafka.{'servers' if which == 'bootstrap.servers' else 'options'}"
    rule = f"is refused by Kafka's client, at {which}"
    return SpecError(place, rule, None, "servers: host:port,host:port; options: kafka. and the name of the setting")


def _refused(source: str, topic: str, error: Py4JJavaError) -> Exception:
    words = _words(error)
    if "UnknownTopicOrPartition" in words:
        rule = "is no topic that the brokers know"
        return SpecError(f"sources.{source}.kafka.topic", rule, topic, "create it, with its partitions, first")
    kind = re.search(r"errors\.(\w+)", words)
    return SourceUnavailable(source, f"its brokers do not answer ({kind[1] if kind is not None else 'no reason'})")


def _words(error: Py4JJavaError) -> str:
    """The error and its causes in Java's words."""
    words, cause = [], error.java_exception
    while cause is not None:
        words.append(str(cause.toString()))
        cause = cause.getCause()
    return "\n".join(words)


_OUTAGES = re.compile(
    r"org\.apache\.kafka\.common\.errors\.(?:Timeout|Disconnect|Network|Retriable|LeaderNotAvailable|Coordinator\w*|"
    r"NotLeaderOrFollower|BrokerNotAvailable)\w*Exception|java\.util\.concurrent\.TimeoutException: Cannot fetch record"
)


def is_outage(words: str) -> bool:
    """Whether a query that failed with these words may go on when the brokers are there again."""
    return _OUTAGES.search(words) is not None
