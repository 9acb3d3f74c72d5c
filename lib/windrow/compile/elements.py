"""Rows of a source as elements of a stage: what `select`, `where`, keys and aggregates' arguments are on each.

A row whose expression fails is dead as `bad_expression`; nothing here can fail a tick (SEMANTICS section 9). Keys and
arguments are only looked at where `where` keeps the row, so that a condition can guard them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from windrow.compile import envelope, sql
from windrow.compile.chain import Chain
from windrow.compile.columns import EVENT_TIME, KEY
from windrow.compile.sql import Column, any_of, coalesce, col, lit
from windrow.spec.expressions import Expression
from windrow.spec.stages import Stage

FAILED = "_failed"
KEPT = "_kept"
UNKEYED = "unkeyed"
"""The only field of the key of a stage without keys."""


def argument_name(aggregate: str) -> str:
    """The column of an aggregate's argument."""
    return f"x_{aggregate}"


@dataclass(frozen=True)
class CompiledElements:
    """The element columns of a stage. `floating_keys` are keys, and their types, for which -0.0 must become 0.0."""

    stage: Stage
    floating_keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns_read(self) -> list[str]:
        """The source columns that the stage uses, each once."""
        selected = {name.lower() for name in self.stage.select}
        return list(dict.fromkeys(c for e in self._expressions() for c in e.columns if c.lower() not in selected))

    def _expressions(self) -> Iterable[Expression]:
        yield from self.stage.select.values()
        if self.stage.where is not None:
            yield self.stage.where
        yield from self._guarded()

    def _guarded(self) -> Iterable[Expression]:
        yield from self.stage.keys.values()
        for aggregate in self.stage.aggregates.values():
            yield from aggregate.expressions

    @property
    def can_fail(self) -> bool:
        return any(expression.failure_sql for expression in self._expressions())

    def judged(self, rows: Chain) -> Chain:
        """Rows with the columns of `select`, and whether an expression failed on them and whether they are kept."""
        judged = rows
        for name, expression in self.stage.select.items():
            judged = judged.with_columns({name: Column(expression.value_sql)})
        kept, failed, where = lit(True), lit(False), self.stage.where
        if where is not None:
            kept = coalesce(Column(where.value_sql), False)
        if self.can_fail:
            first = [*self.stage.select.values(), *([] if where is None else [where])]
            failed = any_of(_failures(first)) | (kept & any_of(_failures(self._guarded())))
        return judged.with_columns({KEPT: kept, FAILED: failed})

    def elements(self, judged: Chain, also: tuple[str, ...] = ()) -> Chain:
        """The kept rows as elements: `key`, `event_time` and the arguments, and of the envelope what is asked for."""
        if self.stage.where is not None:
            judged = judged.where(col(KEPT))
        if self.can_fail:
            judged = judged.where(~col(FAILED))
        arguments = {
            argument_name(name): Column(expression.value_sql)
            for name, aggregate in self.stage.aggregates.items()
            for expression in aggregate.expressions
        }
        kept = {name: col(name) for name in also}
        return judged.select({KEY: self.key, EVENT_TIME: col(envelope.EVENT_TIME), **kept, **arguments})

    @property
    def key(self) -> Column:
        """The key as a struct, so that a null key is equal to a null key everywhere."""
        if not self.stage.keys:
            return sql.struct(**{UNKEYED: True})
        values = {name: Column(expression.value_sql) for name, expression in self.stage.keys.items()}
        zeros = {name: lit(0.0).cast(kind) for name, kind in self.floating_keys.items()}
        return sql.struct(**{name: v + zeros[name] if name in zeros else v for name, v in values.items()})


def _failures(expressions: Iterable[Expression]) -> list[Column]:
    return [Column(f"({expression.failure_sql})") for expression in expressions if expression.failure_sql]
