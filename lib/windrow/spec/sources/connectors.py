"""Connectors other than files: what a source reads, and the columns that come with its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import POSITIVE_INTEGER, TEXT, choice, simple
from windrow.spec.fields.reading import Kind, Named, Spec
from windrow.spec.fields.typed import Converted, converted, plain, specification

WEIGHT = "_weight"
"""The column of a change feed that says whether a row is added, +1, or taken back, -1."""


_GLOB = re.compile(r"[*?\[\]{}]")


def is_glob(path: str) -> bool:
    """Whether Hadoop takes a path as a pattern of many."""
    return _GLOB.search(path) is not None


class Connector(Spec):
    """What a source reads from.

    `COLUMNS` are columns that its rows have beside those of the schema, with their types. `HAS_PARTITIONS`: whether it
    says itself which source partition a row is of; `HAS_FILES`: whether rows come from files. `FINGERPRINT` names the
    fields whose change makes other rows.
    """

    COLUMNS: ClassVar[Mapping[str, str]] = {}
    HAS_PARTITIONS: ClassVar[bool] = False
    HAS_FILES: ClassVar[bool] = True
    FINGERPRINT: ClassVar[tuple[str, ...]] = ()

    @property
    def beside(self) -> Mapping[str, str]:
        """The columns that its rows have beside those of the schema, with their types."""
        return self.COLUMNS

    @property
    def weight(self) -> str | None:
        """The column that says whether a row is added or taken back, where the connector itself knows it."""
        return None

    @property
    def has_json(self) -> bool:
        """Whether its rows are JSON objects, which may have fields that no schema names."""
        return False

    @property
    def fingerprint(self) -> dict[str, Any]:
        """The fields that make other rows, in their YAML form."""
        return {name: str(getattr(self, name)) for name in self.FINGERPRINT}


class KafkaStart(StrEnum):
    """Where a topic is read from when nothing of it has landed yet."""

    EARLIEST = "earliest"
    LATEST = "latest"


class KafkaValue(StrEnum):
    """What the value of a message holds: one JSON object."""

    JSON = "json"


_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def _topic(value: Any) -> str:
    if not isinstance(value, str) or not _TOPIC.fullmatch(value):
        raise SpecError("", "must be the name of one topic: letters, digits, `.`, `_` and `-`", value)
    return value


_FIELDS_INSTEAD = {
    "kafka.bootstrap.servers": "servers", "subscribe": "topic", "subscribepattern": "topic", "assign": "topic",
    "startingoffsets": "start", "startingoffsetsbytimestamp": "start", "startingtimestamp": "start",
    "maxoffsetspertrigger": "max_offsets_per_batch",
}  # fmt: skip
_TAKEN = frozenset({"endingoffsets", "endingoffsetsbytimestamp", "endingtimestamp", "includeheaders",
                    "minoffsetspertrigger", "maxtriggerdelay"})  # fmt: skip


def _options(value: Any) -> Named[str]:
    if not isinstance(value, Mapping):
        raise SpecError("", "must be a mapping from options to texts", value, "{kafka.security.protocol: SSL}")
    return Named([_option(name, option) for name, option in value.items()])


def _option(name: Any, value: Any) -> tuple[str, str]:
    if not isinstance(name, str) or not isinstance(value, str | int) or isinstance(value, bool):
        raise SpecError(str(name), "must be a text", None, "for instance {kafka.security.protocol: SSL}")
    if name.lower() in _FIELDS_INSTEAD:
        raise SpecError(name, "is not an option here", None, f"it is the field {_FIELDS_INSTEAD[name.lower()]}")
    if name.lower() in _TAKEN:
        raise SpecError(name, "cannot be set, as landing sets it itself")
    return name, str(value)


class DeltaChanges(StrEnum):
    """What a Delta table gives: the rows that are appended to it, or every change, with its weight."""

    APPEND = "append"
    FEED = "feed"


TOPIC = simple(_topic)
OPTIONS: Kind[Named[str], Mapping[str, str | int]] = Kind(_options, _options, dict)
KafkaStartLike = KafkaStart | Literal["earliest", "latest"]
KafkaValueLike = KafkaValue | Literal["json"]
DeltaChangesLike = DeltaChanges | Literal["append", "feed"]
KAFKA_START: Kind[KafkaStart, KafkaStartLike] = choice(KafkaStart)
KAFKA_VALUE: Kind[KafkaValue, KafkaValueLike] = choice(KafkaValue)
DELTA_CHANGES: Kind[DeltaChanges, DeltaChangesLike] = choice(
    DeltaChanges, {"cdf": "feed", "changes": "feed", "upsert": "feed"}
)


@specification
class Kafka(Connector):
    """One topic of Kafka, each message once. A landing batch takes at most `max_offsets_per_batch` of them.

    `options` are Spark's and, with `kafka.` in front, those of Kafka's clients. `${NAME}` in `servers` and in the
    values of options is replaced when the topic is read, and its value is written nowhere.
    """

    YAML_HINTS = {
        "bootstrap_servers": "servers", "brokers": "servers", "subscribe": "topic", "starting_offsets": "start",
        "format": "value", "max_offsets_per_trigger": "max_offsets_per_batch",
    }  # fmt: skip
    COLUMNS = {"_key": "string", "_timestamp": "timestamp"}
    HAS_PARTITIONS = True
    HAS_FILES = False
    FINGERPRINT = ("topic",)

    servers: str = plain(TEXT)
    topic: str = plain(TOPIC)
    start: Converted[KafkaStart, KafkaStartLike] = converted(KAFKA_START, default=KafkaStart.EARLIEST)
    value: Converted[KafkaValue, KafkaValueLike] = converted(KAFKA_VALUE, default=KafkaValue.JSON)
    max_offsets_per_batch: int = plain(POSITIVE_INTEGER, default=1_000_000)
    options: Converted[Named[str], Mapping[str, str | int]] = converted(OPTIONS, default=Named())

    @property
    def has_json(self) -> bool:
        return self.value is KafkaValue.JSON


@specification
class DeltaSource(Connector):
    """A Delta table: the rows that it holds at first, then those that are appended, or every change of its feed.

    The rows of a feed have a column `_weight`: -1 takes back the row as it was, in an update or a delete. A landing
    batch takes at most `max_files_per_batch` of the table's files; the changes of one version stay together.
    """

    YAML_HINTS = {"table": "path", "max_files_per_trigger": "max_files_per_batch"}

    path: str = plain(TEXT)
    changes: Converted[DeltaChanges, DeltaChangesLike] = converted(DELTA_CHANGES, default=DeltaChanges.APPEND)
    max_files_per_batch: int = plain(POSITIVE_INTEGER, default=1000)

    @property
    def is_feed(self) -> bool:
        return self.changes is DeltaChanges.FEED

    @property
    def beside(self) -> Mapping[str, str]:
        return {WEIGHT: "int"} if self.is_feed else {}

    @property
    def weight(self) -> str | None:
        return WEIGHT if self.is_feed else None


@specification
class Rate(Connector):
    """Rows that count up, so many a second, to try a pipeline out: `timestamp` and `value`, from 0 on."""

    YAML_HINTS = {"rowsPerSecond": "rows_per_second"}
    HAS_FILES = False
    SCHEMA: ClassVar[Mapping[str, str]] = {"timestamp": "timestamp", "value": "bigint"}

    rows_per_second: int = plain(POSITIVE_INTEGER, default=1)
