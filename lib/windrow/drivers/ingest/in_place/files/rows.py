"""The rows of landed files, read where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession, functions

from windrow.compile.elements.envelope import OFFSET, RAW, ROW, STEP
from windrow.compile.elements.evolution import as_now
from windrow.compile.sql.columns import bigint, call, case, col, lit, null, when
from windrow.drivers.ingest.in_place.placing import NUMBER, placed, with_step
from windrow.engine.frames import local, select, with_column
from windrow.sources.csv_headers import Header, by_header
from windrow.sources.files import files_of, read_alike
from windrow.sources.in_place import FILE, hash_of, numbered
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.evolution import Landed, resolved
from windrow.spec.sources.fields import Fields
from windrow.spec.sources.files import FileFormat, Files
from windrow.spec.sources.source import RESCUED, Source, Unknown
from windrow.store.projections.creation import struct_of
from windrow.store.upstream.in_place import Part
from windrow.store.upstream.places import LandedFile, Reading

_AS_LANDED = "_landed_{}"
"""A column as it was read when its row landed, where the source reads another one in its place now."""

_FEW = 16
"""Up to so many files are told apart by their paths one after the other, more by a join."""


def file_of(part: Part) -> LandedFile:
    """The file that a part is."""
    found = LandedFile.of(part.action)
    assert found is not None, "it is a file"
    return found


def rows_of_step(spark: SparkSession, source: Source, parts: Sequence[Part]) -> DataFrame:
    """What files of one step hold, with the number of the file of each row."""
    rows = _read(spark, source, parts)
    numbers = {part.offset: part.number for part in parts}
    if len(numbers) > _FEW:
        schema = struct_of(f"{OFFSET} string, {NUMBER} bigint")
        found = rows.join(functions.broadcast(local(spark, [*numbers.items()], schema)), on=OFFSET, how="left")
    else:
        known = case(*[(col(OFFSET) == lit(offset), number) for offset, number in numbers.items()])
        found = with_column(rows, NUMBER, known.cast("bigint"))
    return found.drop(OFFSET)


def rows_of_steps(spark: SparkSession, source: Source, parts: Sequence[Part], rules: Sequence[str]) -> DataFrame:
    """What files of several steps hold, which were read alike, placed."""
    rows = _read(spark, source, parts).withColumnRenamed(OFFSET, FILE)
    by_file: Mapping[str, Part] = {part.offset: part for part in parts}
    return placed(spark, source, rows, FILE, by_file, rules).drop(FILE)


def with_parts(source: Source, rows: DataFrame, parts: Sequence[Part], rules: Sequence[str]) -> DataFrame:
    """Rows of files of one step, placed. The step is null where no file is known to be that of a row."""
    number, offsets = col(NUMBER), {part.number: lit(part.offset) for part in parts}
    texts = [offsets.get(index, null("string")) for index in range(max(offsets) + 1)]
    found = with_step(source, rows, parts[0], rules, call("get", call("array", *texts), number.cast("int")))
    return with_column(found, STEP, when(number.is_not_null(), col(STEP)))


def narrow_rows(spark: SparkSession, source: Source, parts: Sequence[Part], columns: frozenset[str]) -> DataFrame:
    """What files of one step hold of these columns, in lower case, and of those by which a row is judged."""
    kept = columns | {name.lower() for name in _judging(source)}
    names = [name for name in source.columns if name.lower() in kept]
    return select(_read(spark, source, parts), {name: col(name) for name in (*names, RAW)})


def widened(source: Source, rows: DataFrame, part: Part, rules: Sequence[str]) -> DataFrame:
    """Such rows, of files of one step, placed, with null for all that they do not say."""
    has = {*rows.columns}
    columns = {name: col(name) if name in has else null(kind) for name, kind in source.columns.items()}
    own = {**columns, RAW: col(RAW), ROW: null("bigint")}
    return with_step(source, select(rows, own), part, rules, null("string"))


def _judging(source: Source) -> set[str]:
    """The columns by which the rows of a source without row rules are judged."""
    times = [name for time in (source.event_time, source.arrival_time) if time is not None for name in time.columns]
    rest = [name for name in (source.partition, source.weight) if name is not None]
    return {*times, *rest, *([RESCUED] if source.unknown is Unknown.REJECT else [])}


def with_row(source: Source, rows: DataFrame, reading: Reading) -> DataFrame:
    """Placed rows with their number within the step. Lines of text are told apart by what they hold."""
    if reading.format == FileFormat.PARQUET:
        number = numbered(col(NUMBER))
    else:
        rescued = [RESCUED] if reading.format == FileFormat.JSON else []
        kept = {*rows.columns}
        values = {name: col(_AS_LANDED.format(name) if _AS_LANDED.format(name) in kept else name)
                  for name, _ in reading.schema}  # fmt: skip
        number = hash_of(dict(reading.schema), values, [col(NUMBER), col(RAW), *map(col, rescued)])
    return select(rows, {**{name: col(name) for name in rows.columns}, ROW: number})


def with_headers(spark: SparkSession, source: Source, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts of files that are about to land, with the headers of those whose columns are not those of the schema."""
    known = [part for part in parts if file_of(part).why is None]
    if files_of(source).format is not FileFormat.CSV or not known:
        return tuple(parts)
    paths = {unquote(part.offset): part for part in known}
    found: dict[str, Header | None] = {}
    for header, some in by_header(spark, source.fields, files_of(source), [*paths]).items():
        found.update({paths[path].offset: header for path in some})
    return tuple(_with_header(part, found[part.offset]) if part.offset in found else part for part in parts)


def _with_header(part: Part, header: Header | None) -> Part:
    file = file_of(part)
    return replace(part, action=replace(file, reading=replace(file.reading, columns=header)).action)


def _read(spark: SparkSession, source: Source, parts: Sequence[Part]) -> DataFrame:
    """What files hold that were read alike, with the columns that the source has now beside those that it had then.

    In CSV Spark makes the columns that somebody asks for, and so finds no fault with the others. But whether a line can
    be read must not depend on who asks, so its text depends on all of them, but for texts, in which nothing can be
    wrong. Raises SpecError where a column has another type now that does not hold its values.
    """
    reading = file_of(parts[0]).reading
    then = Fields(Schema(reading.schema), dict(reading.rename))
    files = Files(
        path=reading.path, format=FileFormat(reading.format), header=reading.header, separator=reading.separator,
        copy=False,
    )  # fmt: skip
    rows = read_alike(spark, then, files, [unquote(part.offset) for part in parts], reading.columns, counts=True)
    columns = {name: col(name) for name in rows.columns}
    if files.format is FileFormat.CSV:
        made = [col(name).is_not_null().cast("int") for name, kind in then.schema.items() if kind != "string"]
        columns[RAW] = case((reduce(add, made, bigint(0)) < 0, ""), otherwise=col(RAW))
    landed = {**then.schema, **({RESCUED: "string"} if files.format is FileFormat.JSON else {})}
    now = as_now(resolved(source, Landed(landed)).places, landed)
    other = {_AS_LANDED.format(name): col(name) for name in landed if name in now and now[name].text != col(name).text}
    return select(rows, {**columns, **other, **now})
