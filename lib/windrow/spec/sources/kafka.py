"""Kafka: one topic, each message once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import POSITIVE_INTEGER, TEXT, choice, simple
from windrow.spec.fields.reading import Kind, Named
from windrow.spec.fields.typed import Converted, converted, plain, specification
from windrow.spec.sources.connector import Connector
from windrow.spec.sources.datasets import Dataset
from windrow.spec.words import many


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


TOPIC = simple(_topic, forms.TEXT_FORM)
OPTIONS: Kind[Named[str], Mapping[str, str | int]] = Kind(
    _options, _options, dict, forms.values(forms.fixed(type=["string", "integer"]))
)
KafkaStartLike = KafkaStart | Literal["earliest", "latest"]
KafkaValueLike = KafkaValue | Literal["json"]
KAFKA_START: Kind[KafkaStart, KafkaStartLike] = choice(KafkaStart)
KAFKA_VALUE: Kind[KafkaValue, KafkaValueLike] = choice(KafkaValue)


@specification
class Kafka(Connector):
    """One topic of Kafka, each message once. A landing batch takes at most `max_offsets_per_batch` of them.

    `options` are Spark's and, with `kafka.` in front, those of Kafka's clients. `${NAME}` in `servers` and in the
    values of options is replaced when the topic is read, and its value is written nowhere, but for the servers in the
    names of `windrow lineage`.
    """

    NAME = "kafka"
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

    def words(self) -> str:
        batch = many(self.max_offsets_per_batch, "message")
        start = {KafkaStart.EARLIEST: "from its beginning", KafkaStart.LATEST: "from its end at the first run"}
        where = f"JSON objects in the topic {self.topic} of {self.servers}, {start[self.start]}"
        return f"{where}; a landing batch takes at most {batch}, the rest waits"

    def dataset(self, resolve: Callable[[str], str]) -> Dataset:
        """A topic is known by the first of its servers."""
        return Dataset(f"kafka://{resolve(self.servers).split(',')[0].strip()}", self.topic)

    def kind_words(self) -> str:
        return f"Kafka topic {self.topic}"
