"""Sources: where elements come from, what their times are, and how their watermark is made.

Rules: docs/semantics.md#event-times-and-clocks, docs/semantics.md#watermarks; the grammar is in the pipeline reference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import EXPRESSION, NAME, choice, nested
from windrow.spec.fields.reading import Kind, Named, Spec, located
from windrow.spec.fields.schemas import SCHEMA, Schema, SchemaLike
from windrow.spec.fields.typed import Converted, ExpressionLike, converted, plain, specification
from windrow.spec.notebooks import InNotebooks
from windrow.spec.quality.quality import QUALITY, Quality, QualityLike
from windrow.spec.sources.all import CONNECTORS
from windrow.spec.sources.connector import Connector
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.fields import DEFAULTS, RENAME, DefaultLike, Fields, check_defaults, check_rename
from windrow.spec.sources.files import Files
from windrow.spec.sources.kafka import Kafka
from windrow.spec.sources.rate import Rate
from windrow.spec.sources.time_columns import EVENT_TIME, EventTimeLike, TimeColumn
from windrow.spec.sources.watermarks import UNBOUNDED, Watermark
from windrow.spec.stages.weights import check_weight
from windrow.spec.times import DAY

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def resolve_environment(text: str) -> str:
    """`${NAME}` and `${NAME:-default}` replaced, when a path or connector option is used and not before.

    The values never become part of a specification, so that no table, plan, log or fingerprint holds them.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        found = os.environ.get(name, default)
        if found is None:
            raise SpecError(f"${{{name}}}", "is not set in the environment", None, f"or write ${{{name}:-default}}")
        return found

    return _VARIABLE.sub(value, text)


def without_variables(text: str) -> str:
    """What a path says itself, whatever the environment holds."""
    return _VARIABLE.sub("", text)


class Unknown(StrEnum):
    """What becomes of fields that the schema does not name: kept in `_rescued`, or the row is dead."""

    KEEP = "keep"
    REJECT = "reject"


UnknownLike = Unknown | Literal["keep", "reject"]
UNKNOWN: Kind[Unknown, UnknownLike] = choice(
    Unknown, {"rescue": "keep", "fail": "reject", "ignore": "keep", "drop": "keep"}
)
RESCUED = "_rescued"
"""The column of JSON sources with the fields that the schema does not name, as JSON; null where there are none."""

ENVELOPE_NAMES = ("_step", "_row", "_event_time", "_arrival_time", "_partition", "_offset", "_reason", "_rule", "_raw")
"""The columns that landing puts around every row."""


MAX_FUTURE = DAY
"""How far ahead of its arrival a row may be where the source says nothing: one wrong clock must not end all windows."""


@specification
class Source(Spec, InNotebooks):
    """One input: a connector, the schema of its rows, and their times.

    `event_time` is a column, or None for the arrival time (`now` in YAML). `arrival_time` is a column, for a history
    that is replayed as it happened, or None for the clock at landing. `partition` is the column whose values are the
    source partitions of the watermark; without one there is a single partition, unless the connector has its own.
    `size` is the bytes of a row, a whole number, for triggers that count bytes; without it they are those of the row's
    columns as compact JSON. `weight` is a column of +1 and -1: a row of weight -1 takes one back.
    `unknown`: what becomes of the fields of a JSON object that the schema does not name. `rename` has other names that
    fields of its columns have in some rows, `defaults` what stands where a row has no value. `quality` is the path of
    the file with the expectations on its rows, and the columns of which no value is shown.
    """

    YAML_HINTS = {"aliases": "rename", "renamed": "rename", "default": "defaults", "optional": "defaults"}

    name: str = plain(NAME)
    files: Files | None = plain(nested(Files), default=None, kw_only=True)
    kafka: Kafka | None = plain(nested(Kafka), default=None, kw_only=True)
    delta: DeltaSource | None = plain(nested(DeltaSource), default=None, kw_only=True)
    rate: Rate | None = plain(nested(Rate), default=None, kw_only=True)
    schema: Converted[Schema, SchemaLike] = converted(SCHEMA)
    event_time: Converted[TimeColumn | None, EventTimeLike] = converted(EVENT_TIME)
    watermark: Watermark = plain(nested(Watermark))
    arrival_time: TimeColumn | None = plain(nested(TimeColumn), default=None)
    partition: str | None = plain(NAME, default=None)
    size: Converted[Expression | None, ExpressionLike | None] = converted(EXPRESSION, default=None)
    weight: str | None = plain(NAME, default=None)
    unknown: Converted[Unknown, UnknownLike] = converted(UNKNOWN, default=Unknown.KEEP)
    rename: Converted[Named[str], Mapping[str, str]] = converted(RENAME, default=Named())
    defaults: Converted[Named[Any], Mapping[str, DefaultLike]] = converted(DEFAULTS, default=Named())
    quality: Converted[Quality | None, QualityLike | None] = converted(QUALITY, default=None)

    def validate(self) -> None:
        self._check_connector()
        self._check_names()
        self._take_weight()
        for place, column in self._time_columns().items():
            if column is not None:
                for field, name in zip(("column", "time_of_day"), column.columns, strict=False):
                    self.columns.require(name, f"{place}.{field}")
                located(place, column.check_type, self.columns)
        if self.partition is not None:
            self.columns.require(self.partition, "partition")
        if self.size is not None:
            self.columns.require_all(self.size.columns, "size")
        self._check_fields()
        if self.quality is not None:
            located("quality", self.quality.check, self.columns)
        if self.watermark.punctuated is not None:
            self.columns.require_all(self.watermark.punctuated.columns, "watermark.punctuated")
        if self.watermark.processing_time and self.event_time is not None:
            raise SpecError("event_time", "must be `now` with a processing_time watermark", None, "event_time: now")

    @property
    def connector(self) -> Connector:
        """What it reads from."""
        (connector,) = self._connectors().values()
        return connector

    @property
    def hides_partitions(self) -> bool:
        """Whether its partitions have the names of values that nobody is shown."""
        masked = () if self.quality is None else self.quality.mask
        return self.partition is not None and self.partition.lower() in {name.lower() for name in masked}

    @property
    def max_future(self) -> int | None:
        """How far ahead of its arrival a row may be, in microseconds; None where nothing bounds it.

        A row whose event time is its arrival time is never ahead of it.
        """
        given = self.watermark.max_future
        if given is None:
            return None if self.event_time is None else MAX_FUTURE
        return None if given == UNBOUNDED else given

    @property
    def max_ahead(self) -> int | None:
        """How far ahead of the clock that lands a row its arrival time may be, in microseconds.

        None where nothing bounds it, or where it has no arrival time of its own.
        """
        given = self.watermark.max_future
        if self.arrival_time is None or given == UNBOUNDED:
            return None
        return MAX_FUTURE if given is None else given

    @property
    def columns(self) -> Schema:
        """The columns of its rows: those of the schema, and those that its connector has beside them."""
        return Schema([*self.schema.items(), *self._beside.items()])

    @property
    def fields(self) -> Fields:
        """What its rows may say of the columns of the schema."""
        return Fields(self.schema, self.rename)

    @property
    def _beside(self) -> Mapping[str, str]:
        rescued = {RESCUED: "string"} if self.connector.has_json else {}
        return {**self.connector.beside, **rescued}

    def _connectors(self) -> dict[str, Connector]:
        every = {name: getattr(self, name) for name in CONNECTORS}
        return {name: connector for name, connector in every.items() if connector is not None}

    def _check_connector(self) -> None:
        given = self._connectors()
        if len(given) != 1:
            got = ", ".join(given) or None
            hint = "for instance files: {path: data/clicks}"
            raise SpecError("", f"must have exactly one of {', '.join(CONNECTORS)}", got, hint)
        (name,) = given
        try:
            self.connector.check()
        except SpecError as error:
            raise error.within(name) from None
        if self.connector.HAS_PARTITIONS and self.partition is not None:
            hint = f"leave it out: the partitions of {name} are the source partitions of the watermark"
            raise SpecError("partition", f"is not for {name}", self.partition, hint)
        own = self.connector.SCHEMA
        if own is not None and not self.schema.items() <= own.items():
            rule = f"has a column that {self.connector.kind_words()} do not have"
            raise SpecError("schema", rule, None, ", ".join(f"{name} {kind}" for name, kind in own.items()))
        if self.unknown is Unknown.REJECT and not self.connector.has_json:
            rule = "is for JSON only: no other row has fields of its own"
            raise SpecError("unknown", rule, str(self.unknown), "leave it out")

    def _check_fields(self) -> None:
        if self.rename and not self.connector.has_names:
            rule = f"is for rows that name their fields: {self.connector.kind_words()} do not"
            raise SpecError("rename", rule, ", ".join(self.rename), "leave it out")
        check_rename(self.rename, self.schema, frozenset(name.lower() for name in (*ENVELOPE_NAMES, *self._beside)))
        timed = [(place, column) for place, column in self._time_columns().items() if column is not None]
        times = {name: f"the {place}" for place, column in timed for name in column.columns}
        others = {name: f"the {place}" for place in ("partition", "weight") if (name := getattr(self, place))}
        check_defaults(self.defaults, self.schema, {**others, **times})

    def _take_weight(self) -> None:
        """The connector's own weight, where it has one."""
        own = self.connector.weight
        if own is not None and self.weight not in (None, own):
            raise SpecError("weight", f"is {own} in a change feed", self.weight, "leave it out")
        if own is not None:
            object.__setattr__(self, "weight", own)
        if self.weight is not None:
            check_weight(self.weight, self.columns)

    def _check_names(self) -> None:
        taken = {name.lower() for name in (*ENVELOPE_NAMES, *self._beside)}
        for name in self.schema:
            if name.lower() in taken:
                raise SpecError(f"schema.{name}", "is a column that every row has beside those of the schema", None,
                                f"leave it out, or rename it: {name.lstrip('_')}")  # fmt: skip

    def _time_columns(self) -> Mapping[str, TimeColumn | None]:
        return {"event_time": self.event_time, "arrival_time": self.arrival_time}
