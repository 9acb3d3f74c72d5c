"""Rows of a source as elements of a stage: what `select`, `explode`, `where`, keys and aggregates' arguments are.

A row whose expression fails is dead as `bad_expression`; nothing here can fail a tick. Keys and arguments are only
looked at where `where` keeps the row, so that a condition can guard them. Rule: docs/semantics.md#where-every-row-is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from windrow.compile.columns import AHEAD, EVENT_TIME, KEY, WEIGHT
from windrow.compile.elements import envelope
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, any_of, bigint, call, case, coalesce, col, lit, when
from windrow.compile.sql.json import as_json
from windrow.compile.windows.base import CompiledWindows
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Stage
from windrow.spec.times import EARLIEST_EVENT_TIME, LATEST_EVENT_TIME
from windrow.spec.triggers.all import Trigger, counts_bytes, tick_aggregates

BAD_EXPRESSION = "bad_expression"
SIZE = "y_size"
FAILED = "_failed"
KEPT = "_kept"
SOURCE_TIME = "_source_time"
"""The event time that the source gives, which moves the watermark, where the stage's elements have another."""
WHY = "_why"
"""Why a row has failed, where that is not the same for all."""
_ITEMS = "_items"
_HAS_ITEM = "_has_item"
UNKEYED = "unkeyed"
"""The only field of the key of a stage without keys."""


def argument_name(aggregate: str) -> str:
    """The column of an aggregate's argument."""
    return f"x_{aggregate}"


def tick_argument(name: str) -> str:
    """The column of the argument of what a trigger node aggregates."""
    return f"y_{name}"


@dataclass(frozen=True)
class CompiledElements:
    """The element columns of an input over its windows; `trigger` is that of the stage, which sees them.

    `floating_keys` are keys, and their types, for which -0.0 must become 0.0. `size` is the source's expression for the
    bytes of a row; without it they are those of `row_columns` as JSON.
    `weight` is the source's column of +1 and -1, if it has one.
    """

    stage: Stage
    windows: CompiledWindows
    trigger: Trigger
    floating_keys: Mapping[str, str] = field(default_factory=dict)
    size: Expression | None = None
    row_columns: tuple[str, ...] = ()
    weight: str | None = None

    @property
    def looked_at(self) -> dict[str, Expression]:
        """What the trigger's nodes aggregate over elements, where these have the columns for it."""
        aggregates = tick_aggregates(self.trigger)
        found = {name: e for name, aggregate in aggregates.items() for e in aggregate.expressions}
        known = {name.lower() for name in (*self.row_columns, *self.stage.select, *self.stage.explode)}
        return {name: e for name, e in found.items() if known >= {column.lower() for column in e.columns}}

    @property
    def _counts_bytes(self) -> bool:
        return counts_bytes(self.trigger)

    @property
    def columns_read(self) -> list[str]:
        """The source columns that the stage uses, each once."""
        selected = {name.lower() for name in (*self.stage.select, *self.stage.explode)}
        read = [c for e in self._expressions() for c in e.columns if c.lower() not in selected]
        if self._counts_bytes and self.size is None:
            read += self.row_columns
        return list(dict.fromkeys([*read, *self.windows.columns_read, *([] if self.weight is None else [self.weight])]))

    def _expressions(self) -> Iterable[Expression]:
        yield from self.stage.select.values()
        yield from self.stage.explode.values()
        yield from self._of_item()
        yield from self._guarded()

    def _of_item(self) -> Iterable[Expression]:
        """What is looked at on every item."""
        if self.stage.element_time is not None:
            yield self.stage.element_time.of
        if self.stage.where is not None:
            yield self.stage.where

    def _guarded(self) -> Iterable[Expression]:
        yield from self.stage.keys.values()
        yield from self.stage.window.expressions.values()
        for aggregate in self.stage.aggregates.values():
            yield from aggregate.expressions
        yield from self.looked_at.values()
        if self.size is not None and self._counts_bytes:
            yield self.size

    @property
    def can_fail(self) -> bool:
        """Whether there can be rows that no result can hold."""
        return self._wrong is not None or any(expression.failure_sql for expression in self._expressions())

    @property
    def _wrong(self) -> Column | None:
        """Whether the windows of a judged row are none."""
        return self.windows.wrong(col(envelope.EVENT_TIME))

    @property
    def source_time(self) -> Column:
        """The event time of a judged row that moves the watermark."""
        return col(envelope.EVENT_TIME if self.stage.element_time is None else SOURCE_TIME)

    def exploded(self, rows: Chain) -> Chain:
        """Rows with the columns of `select`, once for every item of `explode`; a row without items is there once."""
        for name, expression in self.stage.select.items():
            rows = rows.with_columns({name: Column(expression.value_sql)})
        for name, expression in self.stage.explode.items():
            names = (*rows.names, name, _HAS_ITEM)
            items = rows.with_columns({_ITEMS: Column(expression.value_sql)})
            has_item = coalesce(call("size", col(_ITEMS)) > 0, False)
            rows = items.with_columns({name: call("explode_outer", col(_ITEMS)), _HAS_ITEM: has_item}).only(names)
        return rows

    def judged(self, rows: Chain) -> Chain:
        """Rows exploded, with their event time, whether an expression failed on them and whether they are kept."""
        judged = self._timed(self.exploded(rows))
        is_there = col(_HAS_ITEM) if self.stage.explode else lit(True)
        kept, of_row, of_item = is_there, lit(False), lit(False)
        if self.stage.where is not None:
            kept = kept & coalesce(Column(self.stage.where.value_sql), False)
        if self.can_fail:
            of_row = any_of(_failures([*self.stage.select.values(), *self.stage.explode.values()]))
            of_item = (is_there & any_of(_failures(self._of_item()))) | (kept & any_of(_failures(self._guarded())))
        failed, why = of_row | of_item, lit(BAD_EXPRESSION)
        if self.stage.element_time is not None:
            untimed = is_there & ~of_row & col(envelope.EVENT_TIME).is_null()
            failed, why = failed | untimed, when(untimed, "bad_timestamp", BAD_EXPRESSION)
        judged = judged.with_columns({KEPT: kept, FAILED: failed, **self._carried})
        wrong = lit(False) if self._wrong is None else ~col(FAILED) & col(KEPT) & self._wrong
        if not self._fails_in_one_way:
            judged = judged.with_columns({WHY: case((wrong, self.stage.window.REASON), otherwise=why)})
        return judged if self._wrong is None else judged.with_columns({FAILED: col(FAILED) | wrong})

    @property
    def _fails_in_one_way(self) -> bool:
        """Whether every row that fails does so for one reason."""
        wrong = None if self._wrong is None else self.stage.window.REASON
        return self.stage.element_time is None and wrong in (None, BAD_EXPRESSION)

    @property
    def why(self) -> Column:
        """The reason why a judged row that has failed is dead."""
        return lit(BAD_EXPRESSION) if self._fails_in_one_way else col(WHY)

    def _timed(self, rows: Chain) -> Chain:
        """Rows with the event time of the stage, null where it is none; dead rows keep that of the source."""
        time = self.stage.element_time
        if time is None:
            return rows
        micros = call("unix_micros", Column(time.of.value_sql))
        known = when(micros.between(bigint(EARLIEST_EVENT_TIME), bigint(LATEST_EVENT_TIME)), micros)
        own = case((col(envelope.REASON).is_null(), known), otherwise=col(envelope.EVENT_TIME))
        return rows.with_columns({SOURCE_TIME: col(envelope.EVENT_TIME), envelope.EVENT_TIME: own})

    def elements(self, judged: Chain, also: tuple[str, ...] = ()) -> Chain:
        """The kept rows as elements: `key`, `event_time` and the arguments, and of the envelope what is asked for."""
        if self.stage.where is not None or self.stage.explode:
            judged = judged.where(col(KEPT))
        if self.can_fail or self.stage.element_time is not None:
            judged = judged.where(~col(FAILED))
        arguments = {
            argument_name(name): Column(expression.value_sql)
            for name, aggregate in self.stage.aggregates.items()
            for expression in aggregate.expressions
        }
        kept = {name: col(name) for name in (*also, *self._carried)}
        if self.weight is not None:
            kept[WEIGHT] = coalesce(col(self.weight).cast("int"), 1)
        own = {KEY: self.key, EVENT_TIME: col(envelope.EVENT_TIME)}
        ahead = {AHEAD: col(envelope.EVENT_TIME)} if self.stage.keeps_event_times else {}
        return judged.select({**own, **kept, **arguments, **self._of_trigger(), **ahead})

    def _of_trigger(self) -> dict[str, Column]:
        """The arguments of what the trigger's nodes aggregate."""
        arguments = {tick_argument(name): Column(e.value_sql) for name, e in self.looked_at.items()}
        return {**arguments, SIZE: self._size()} if self._counts_bytes else arguments

    def _size(self) -> Column:
        """The bytes of a row; null and what is below zero count as nothing."""
        if self.size is not None:
            return sql.greatest(Column(self.size.value_sql), 0).cast("bigint")
        if not self.row_columns:
            return lit(len("{}")).cast("bigint")
        row = sql.struct(**{name: col(name) for name in self.row_columns})
        return call("octet_length", as_json(row)).cast("bigint")

    @property
    def key(self) -> Column:
        """The key as a struct, so that a null key is equal to a null key everywhere."""
        return sql.struct(**(self._key_values if self.stage.keys else {UNKEYED: True}))

    @property
    def _key_values(self) -> dict[str, Column]:
        values = {name: Column(expression.value_sql) for name, expression in self.stage.keys.items()}
        zeros = {name: lit(0.0).cast(kind) for name, kind in self.floating_keys.items()}
        return {name: v + zeros[name] if name in zeros else v for name, v in values.items()}

    @property
    def _carried(self) -> Mapping[str, Column]:
        """What the windows of an element depend on beside its event time."""
        arguments = {name: Column(e.value_sql) for name, e in self.stage.window.expressions.items()}
        return self.windows.carried(col(envelope.EVENT_TIME), list(self._key_values.values()), arguments)


def _failures(expressions: Iterable[Expression]) -> list[Column]:
    return [Column(f"({expression.failure_sql})") for expression in expressions if expression.failure_sql]
