"""Data frames that only write down what is asked of them, in SQL's pipe syntax: to be read, not to be run.

All expressions of one operator read the columns before it. EXTEND and SET keep all other columns, so that a statement
shows what is new; a relation that is read twice is a statement of its own.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import NullType, StructField, StructType

from tests.engine.layout import STEP, WIDTH, laid_out
from windrow.compile.sql.chain import Chain, Filter
from windrow.compile.sql.columns import named, quoted
from windrow.engine import frames


@contextmanager
def recording() -> Iterator[None]:
    """Meanwhile `windrow.engine.frames` hands texts and chains over as they are, to relations of this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "F", SimpleNamespace(expr=lambda text: text))
        patch.setattr(Chain, "sql", property(lambda chain: chain))
        yield


@dataclass(frozen=True)
class Operator:
    """What makes a relation of one before: a word, its expressions, and the relation that it takes in, if any."""

    word: str
    expressions: Sequence[str] = ()
    tail: str = ""
    other: Relation | None = None


@dataclass(frozen=True, eq=False)
class Relation:
    """A relation by its name, or what operators make of another one."""

    columns: list[str]
    name: str = ""
    before: Relation | None = None
    operators: tuple[Operator, ...] = ()

    def _then(self, columns: Iterable[str], *operators: Operator) -> Relation:
        return Relation([*columns], before=self, operators=operators)

    # ------------------------------------------------------------ what the engine asks of a data frame

    @property
    def sparkSession(self) -> Any:
        return SimpleNamespace(sql=lambda chain, rows: rows.after(chain))

    @property
    def schema(self) -> StructType:
        """Of no type: then a key is grouped as it is."""
        return StructType([StructField(name, NullType()) for name in self.columns])

    def after(self, chain: Chain, done: int = 0) -> Relation:
        """What the steps of a chain make of it, but for the first ones."""
        found = self
        for step in chain.steps[done:]:
            if isinstance(step, Filter):
                found = found.where(step.condition.text)
            else:
                found = found.selectExpr(*[named(name, column) for name, column in step.columns.items()])
        return found

    def where(self, condition: str) -> Relation:
        return self._then(self.columns, Operator("WHERE", [condition]))

    def select(self, *names: str) -> Relation:
        return self.selectExpr(*[named_as(name, quoted(name)) for name in names])

    def selectExpr(self, *expressions: str) -> Relation:
        wanted = dict(map(_split, expressions))
        changed = {name: text for name, text in wanted.items() if text != quoted(name)}
        new = {name: text for name, text in changed.items() if name not in self.columns}
        if not set(self.columns) <= {*wanted}:
            return self._then(wanted, Operator("SELECT", _aliased(wanted)))
        replaced = [f"{quoted(name)} = {text}" for name, text in changed.items() if name not in new]
        operators = [("EXTEND", _aliased(new)), ("SET", replaced)]
        return self._then(wanted, *[Operator(word, found) for word, found in operators if found])

    def withColumn(self, name: str, expression: str) -> Relation:
        kept = {one: quoted(one) for one in self.columns}
        return self.selectExpr(*[named_as(one, text) for one, text in {**kept, name: expression}.items()])

    def drop(self, *names: str) -> Relation:
        return self._then([one for one in self.columns if one not in names], Operator("DROP", list(map(quoted, names))))

    def distinct(self) -> Relation:
        return self._then(self.columns, Operator("DISTINCT"))

    def repartition(self, *expressions: str) -> Relation:
        return self._then(self.columns, Operator("DISTRIBUTE BY", expressions))

    def alias(self, name: str) -> Relation:
        return self._then(self.columns, Operator(f"AS {name}"))

    def groupBy(self, *keys: str) -> Any:
        def agg(*expressions: str) -> Relation:
            names = [*(key.strip("`") for key in keys), *(name for name, _ in map(_split, expressions))]
            tail = f"GROUP BY {', '.join(keys)}" if keys else ""
            return self._then(names, Operator("AGGREGATE", expressions, tail))

        return SimpleNamespace(agg=agg)

    def join(self, other: Relation, on: str | list[str], how: str) -> Relation:
        word = {"full": "FULL OUTER JOIN", "left": "LEFT JOIN", "inner": "JOIN"}.get(
            how, f"{how} join".replace("_", " ")
        )
        by = f"ON {on}" if isinstance(on, str) else f"USING ({', '.join(map(quoted, on))})"
        shared = {*self.columns} if isinstance(on, str) else {*on}
        only_left = how in ("left_semi", "left_anti")
        columns = self.columns + ([] if only_left else [name for name in other.columns if name not in shared])
        return self._then(columns, Operator(word.upper(), tail=by, other=other))

    def unionByName(self, other: Relation, allowMissingColumns: bool = False) -> Relation:
        missing = {*self.columns} ^ {*other.columns}
        assert allowMissingColumns or not missing, missing
        columns = self.columns + [name for name in other.columns if name not in self.columns]
        return self._then(columns, Operator("UNION ALL BY NAME", other=other))


def _split(expression: str) -> tuple[str, str]:
    """The name and the text of `.. AS name`."""
    text, _, name = expression.rpartition(" AS ")
    return name[1:-1].replace("``", "`"), text


def named_as(name: str, text: str) -> str:
    return f"{text} AS {quoted(name)}"


def _aliased(columns: Mapping[str, str]) -> list[str]:
    return [text if text == quoted(name) else named_as(name, text) for name, text in columns.items()]


# ---------------------------------------------------------------- as text


@dataclass
class Statements:
    """Relations as text, each under a title. One that several read is written once, before the first of them."""

    relations: Mapping[str, Relation]
    _readers: Counter[int] = field(default_factory=Counter)
    _names: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        seen: set[int] = set()
        self._readers = Counter(id(one) for root in self.relations.values() for one in _read_by(root, seen))
        return "\n\n".join(
            block for title, relation in self.relations.items() for block in self._blocks(title, relation)
        )

    def _blocks(self, title: str, relation: Relation) -> Iterator[str]:
        for shared in self._shared_below(relation):
            own = self._lines(shared)
            name = self._names[id(shared)] = f"shared_{len(self._names) + 1}"
            yield "\n".join([f"-- {title}: {name}", *own])
        yield "\n".join([f"-- {title}", *self._lines(relation)])

    def _shared_below(self, relation: Relation) -> Iterator[Relation]:
        """What is read twice of what a relation is made of, and has no name yet; what it reads itself comes first."""
        for one in _below(relation, set()):
            if self._readers[id(one)] > 1 and not one.name and id(one) not in self._names:
                yield one

    def _lines(self, relation: Relation) -> list[str]:
        name = relation.name or self._names.get(id(relation))
        if name:
            return [f"FROM {name}"]
        assert relation.before is not None
        lines = self._lines(relation.before)
        return [*lines, *(line for operator in relation.operators for line in self._operator(operator))]

    def _operator(self, operator: Operator) -> list[str]:
        if operator.other is not None:
            own = self._lines(operator.other)
            tail = f" {operator.tail}" if operator.tail else ""
            if len(own) == 1:
                return [f"|> {operator.word} {own[0].removeprefix('FROM ')}{tail}"]
            inside = textwrap.indent("\n".join(own), " " * STEP).split("\n")
            return [f"|> {operator.word} (", *inside, *laid_out(f"){tail}")]
        whole = f"|> {operator.word} {', '.join(operator.expressions)} {operator.tail}".rstrip()
        if len(whole) <= WIDTH:
            return [whole]
        listed = [*operator.expressions]
        lines = [line for text in _commas(_packed(listed)) for line in laid_out(text, 2 * STEP)]
        return [f"|> {operator.word}", *lines, *([f"  {operator.tail}"] if operator.tail else [])]


def _read_by(relation: Relation, seen: set[int]) -> Iterator[Relation]:
    """The relations that a relation and what it is made of read, each as often as it is read."""
    if id(relation) in seen:
        return
    seen.add(id(relation))
    for one in _sources(relation):
        yield one
        yield from _read_by(one, seen)


def _below(relation: Relation, seen: set[int]) -> Iterator[Relation]:
    """What a relation is made of, each once, and each behind what it is made of itself."""
    for one in _sources(relation):
        if id(one) not in seen:
            seen.add(id(one))
            yield from _below(one, seen)
            yield one


def _sources(relation: Relation) -> list[Relation]:
    others = [operator.other for operator in relation.operators]
    return [one for one in (relation.before, *others) if one is not None]


def _packed(expressions: list[str]) -> Iterator[str]:
    """Columns that pass through share lines; an expression has its own."""
    line = ""
    for text in expressions:
        is_plain = text.startswith("`") and "`" not in text[1:-1]
        if line and (not is_plain or 2 * STEP + len(line) + len(text) + 3 > WIDTH):
            yield line
            line = ""
        if is_plain:
            line = f"{line}, {text}" if line else text
        else:
            yield text
    if line:
        yield line


def _commas(texts: Iterable[str]) -> list[str]:
    found = [*texts]
    return [f"{text}," for text in found[:-1]] + found[-1:]
