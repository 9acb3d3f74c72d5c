"""Schemas that change: other names of fields, defaults, wider types, and what that is for each stage."""

from __future__ import annotations

from typing import Any

import pytest

from windrow.drivers.inspect import plan as since
from windrow.spec.errors import SpecError
from windrow.spec.fields.widening import plain_type, widens, wider_than
from windrow.spec.pipelines.fingerprint import changes, evolved, fingerprint_of, gains, is_of_source
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.used_columns import columns_used
from windrow.spec.sources.evolution import Landed, Resolved, resolved
from windrow.spec.sources.source import Source
from windrow.spec.stages.cogroups import by_input
from windrow.store.reading.generations import Generation
from windrow.view.plan.pipeline import since_section

SCHEMA = "k string, v int, at string"
STAGE = {"keys": ["k"], "window": {"fixed": {"size": "1m"}}, "aggregates": {"total": {"sum": "v"}}}


def pipeline(schema: str = SCHEMA, stage: dict[str, Any] | None = None, **source: Any) -> Pipeline:
    fields = {
        "name": "rows", "files": {"path": "data"}, "schema": schema,
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "1m"}, **source,
    }  # fmt: skip
    mapping = {"pipeline": "p", "lake": "lakes/p", "sources": [fields], "stages": [{**STAGE, **(stage or {})}]}
    return Pipeline.from_mapping(mapping)


def fingerprint(made: Pipeline) -> dict[str, Any]:
    (stage,) = made.stages
    return fingerprint_of(stage, made.upstreams_of(stage), {})


def lines(before: Pipeline, after: Pipeline) -> list[str]:
    return changes(fingerprint(before), fingerprint(after))


# ---------------------------------------------------------------- the fields of a source


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"rename": ["w"]}, "sources[0].rename must be a mapping from names of fields to columns"),
        ({"rename": {"w": "x"}}, 'sources[0].rename.w is not a column here; got "x". Hint: the columns are k, v, at'),
        ({"rename": {"V": "k"}}, "sources[0].rename.V is a column of the schema itself. Hint: leave it out of the"),
        ({"rename": {"w": "v", "W": "v"}}, "sources[0].rename.W is there twice, but for its case"),
        ({"rename": {"_raw": "v"}}, "sources[0].rename._raw is a column that every row has beside those of the schema"),
        ({"rename": {"_rescued": "v"}}, "sources[0].rename._rescued is a column that every row has beside"),
        ({"rename": {"w": 1}}, "sources[0].rename.w must be a text"),
        ({"aliases": {"w": "v"}}, "here it is called rename"),
        ({"files": {"path": "x", "format": "csv", "header": False}, "rename": {"w": "v"}},
         "sources[0].rename is for rows that name their fields: CSV do not"),
        ({"defaults": {"w": 1}}, "sources[0].defaults.w is not a column here"),
        ({"defaults": {"v": "x"}}, 'sources[0].defaults.v must be a whole number; got "x"'),
        ({"defaults": {"v": 3_000_000_000}}, "sources[0].defaults.v does not fit a int"),
        ({"defaults": {"v": [1]}}, "sources[0].defaults.v must be a text, a number, true, false or null"),
        ({"defaults": {"at": "2024-01-01"}}, "sources[0].defaults.at cannot be: at is the event_time of the source"),
        ({"defaults": {"k": "x"}, "partition": "k"}, "sources[0].defaults.k cannot be: k is the partition of the sou"),
        ({"optional": ["v"]}, "here it is called defaults"),
    ],
)  # fmt: skip
def test_what_is_refused(source: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as refused:
        pipeline(**source)
    assert message in str(refused.value)


def test_other_names_and_defaults_are_read_and_written_back() -> None:
    made = pipeline(rename={"departure delay": "v", "delay": "v"}, defaults={"v": 0, "k": None})
    assert Pipeline.from_mapping(made.to_mapping()) == made and hash(made.sources[0]) is not None
    assert made.sources[0].fields.names_of("v") == ("v", "departure delay", "delay")
    assert made.sources[0].fields.every["delay"] == "int"
    assert "schema: k string, v int, at string" in made.to_yaml()


def test_a_nested_column_has_no_default_but_null() -> None:
    schema = "k string, v int, at string, tags array<string>"
    pipeline(schema, defaults={"tags": None})
    with pytest.raises(SpecError, match=r"defaults.tags must be null for the type array<string>"):
        pipeline(schema, defaults={"tags": "x"})


# ---------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tinyint", "smallint"), ("int", "bigint"), ("int", "double"), ("float", "double"), ("int", "decimal(12, 2)"),
        ("decimal(10, 2)", "decimal(12, 2)"), ("decimal(10,2)", "decimal(14, 4)"), ("bigint", "decimal(19,0)"),
        ("date", "timestamp"), ("date", "timestamp_ntz"), ("decimal", "decimal(11)"),
    ],
)  # fmt: skip
def test_a_wider_type(before: str, after: str) -> None:
    assert widens(before, after) and not widens(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int", "int"), ("decimal(10,2)", "decimal(10, 2)"), ("bigint", "double"), ("int", "string"), ("int", "float"),
        ("decimal(10,2)", "decimal(10, 3)"), ("decimal(10, 2)", "decimal(12, 1)"), ("bigint", "decimal(18,0)"),
        ("timestamp_ntz", "timestamp"), ("array<int>", "array<bigint>"), ("struct<a:int>", "struct<a:int,b:int>"),
        ("string", "date"), ("boolean", "int"),
    ],
)  # fmt: skip
def test_a_type_that_is_the_same_or_does_not_hold_all_values(before: str, after: str) -> None:
    assert not widens(before, after)


def test_a_type_has_one_text() -> None:
    assert plain_type("Decimal( 10, 2 )") == "decimal(10,2)" and plain_type("array<long>") == "array<bigint>"
    assert plain_type("struct<a: int, b: decimal>") == "struct<a:int,b:decimal(10,0)>"
    assert wider_than("int") == "bigint or double or a wider decimal" and wider_than("string") == ""


# ---------------------------------------------------------------- what a change is for a stage


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"schema": f"{SCHEMA}, w int"}, {"schema": SCHEMA}, []),
        ({"schema": f"{SCHEMA}, w int"}, {"schema": f"{SCHEMA}, w bigint"}, []),
        ({"schema": f"{SCHEMA}, w int"}, {"schema": f"{SCHEMA}, w string"}, ["source.schema.w: int -> string"]),
        ({}, {"schema": "k string, v bigint, at string"}, ["reads.v: int -> bigint"]),
        ({"schema": "k string, v bigint, at string"}, {}, ["source.schema.v: bigint -> int"]),
        ({}, {"rename": {"w": "v"}}, []),
        ({"schema": f"{SCHEMA}, w int"}, {"rename": {"w": "v"}}, ["reads.v: w -> v"]),
        ({}, {"defaults": {"v": 0}}, ["reads.v: default null -> 0"]),
        ({}, {"defaults": {"v": None}}, []),
        ({"schema": f"{SCHEMA}, w int"}, {"schema": f"{SCHEMA}, w int", "defaults": {"w": 0}}, []),
        ({"schema": f"{SCHEMA}, day date", "partition": "day"}, {"schema": f"{SCHEMA}, day timestamp",
         "partition": "day"}, ["source.schema.day: date -> timestamp"]),
        ({"partition": "v"}, {"schema": "k string, v bigint, at string", "partition": "v"}, ["reads.v: int -> bigint"]),
        ({"schema": "k string, v int, at string", "partition": "k"}, {"partition": "v"}, ["source.partition: k -> v"]),
    ],
)  # fmt: skip
def test_what_a_stage_is_told(before: dict[str, Any], after: dict[str, Any], found: list[str]) -> None:
    assert lines(pipeline(**before), pipeline(**after)) == found


def test_a_column_of_times_may_have_a_new_name() -> None:
    after = pipeline("k string, v int, moment string", rename={"at": "moment"}, event_time={
        "column": "moment", "format": "iso8601"})  # fmt: skip
    assert lines(pipeline(), after) == []
    assert evolved(fingerprint(pipeline()), fingerprint(after)) == ["renames at string to moment"]
    assert gains(fingerprint(pipeline()), fingerprint(after)) == []


def test_the_plan_says_how_the_schema_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pipeline(f"{SCHEMA}, a int, b int, c int")
    after = pipeline(f"{SCHEMA}, a bigint, d int, e int", rename={"b": "d"})
    known = {"stage": Generation(1, fingerprint(before))}
    monkeypatch.setattr(since, "newest_generations", lambda *arguments: known)
    (found,), _ = since.since_last_run(after)
    assert found.outcome == "unchanged" and list(found.gained) == ["e int"]
    assert list(found.evolved) == [
        "renames b int to d", "widens a from int to bigint", "loses c: the rows that have landed keep it"
    ]  # fmt: skip
    assert "its source widens a from int to bigint" in str(since_section([found], None).rows)
    assert "a field b is d" in " ".join(since.plan(after).split())


@pytest.mark.parametrize(
    ("stage", "source", "used"),
    [
        ({}, {}, ["k", "v"]),
        ({"where": "length(at) > 3"}, {}, ["k", "v", "at"]),
        ({"select": {"x": "v + 1"}, "aggregates": {"n": {"sum": "x"}}, "keys": []}, {}, ["v"]),
        ({"trigger": {"repeat": {"after_bytes": 10}}, "aggregates": {"n": {"count": "*"}}}, {},
         ["k", "v", "at", "_rescued"]),
        ({"trigger": {"repeat": {"after_bytes": 10}}, "aggregates": {"n": {"count": "*"}}}, {"size": "v"}, ["k", "v"]),
        ({"trigger": {"repeat": {"after_match": {"where": "v > 3"}}}, "aggregates": {"n": {"count": "*"}}}, {},
         ["k", "v"]),
        ({"aggregates": {"n": {"count": "*"}}}, {"weight": "v"}, ["k", "v"]),
    ],
)  # fmt: skip
def test_the_columns_that_a_stage_uses(stage: dict[str, Any], source: dict[str, Any], used: list[str]) -> None:
    made = pipeline(stage=stage, **source)
    (one,) = made.stages
    assert columns_used(one, by_input(one)[""], made.sources[0]) == used


def test_the_columns_that_an_input_uses() -> None:
    made = pipeline()
    second = {**made.to_mapping()["sources"][0], "name": "others", "files": {"path": "others"}}
    inputs = {
        "rows": {"from": "rows", "keys": ["k"], "columns": ["v"]},
        "others": {"from": "others", "keys": ["k"], "columns": [{"when": "at"}]},
    }
    stage = {"name": "both", "join": "inner", "window": {"fixed": {"size": "1m"}}, "inputs": inputs}
    mapping = {**made.to_mapping(), "sources": [made.to_mapping()["sources"][0], second], "stages": [stage]}
    before = Pipeline.from_mapping(mapping)
    wider = [{**one, "schema": "k string, v bigint, at string"} for one in mapping["sources"]]
    after = Pipeline.from_mapping({**mapping, "sources": wider})
    assert lines(before, after) == ["inputs.rows.reads.v: int -> bigint"]
    assert not any(map(is_of_source, lines(before, after)))


# ---------------------------------------------------------------- where values are


def source(schema: str, **fields: Any) -> Source:
    stage = {"aggregates": {"n": {"count": "*"}}, "keys": []}
    return pipeline(schema, stage, files={"path": "x", "format": "parquet"}, **fields).sources[0]


def places(made: Source, types: str, moved: dict[str, str] | None = None) -> Resolved:
    pairs = [item.strip().split(" ", 1) for item in types.split(";")] if types else []
    return resolved(made, Landed({name: kind for name, kind in pairs}, moved or {}))


def test_rows_of_a_wider_type_land_in_a_column_of_their_own() -> None:
    found = places(source("v bigint, at string"), "v int; at string")
    assert found.places["v"].names == ("v__bigint", "v") and found.moved == {"v": "v__bigint"}
    assert found.places["at"].names == ("at",)
    wider = places(source("v decimal(20, 0), at string"), "v int; v__bigint bigint; at string", dict(found.moved))
    assert wider.places["v"].names == ("v__decimal_20_0", "v__bigint", "v")
    again = places(source("v bigint, at string"), "v int; v__bigint bigint; at string", dict(found.moved))
    assert again == found


def test_a_column_of_another_name_is_read_behind_its_own() -> None:
    made = source("w bigint, at string", rename={"v": "w", "u": "w"})
    found = places(made, "v int; u bigint; at string")
    assert found.places["w"].names == ("w", "v", "u") and found.moved == {"v": "w", "u": "w"}
    back = places(source("v bigint, at string"), "v int; u bigint; w bigint; at string", dict(found.moved))
    assert back.places["v"].names == ("w", "v", "u")


@pytest.mark.parametrize(
    ("schema", "fields", "types", "moved", "message"),
    [
        ("v string, at string", {}, "v int; at string", {},
         'sources.rows.schema.v has landed as int; got "string". Hint: keep its type, or widen it to bigint or double'),
        ("w smallint, at string", {"rename": {"v": "w"}}, "v int; at string", {},
         'sources.rows.rename.v has landed as int; got "smallint"'),
        ("v int, at string", {}, "v int; v__bigint bigint; at string", {"v": "v__bigint"},
         'sources.rows.schema.v has landed as bigint; got "int"'),
        ("v bigint, v__bigint bigint, at string", {}, "v int; at string", {},
         "sources.rows.schema.v is in v__bigint in the rows that have landed, where v__bigint is too"),
        ("v bigint, w bigint, at string", {}, "v bigint; w bigint; at string", {"v": "w"},
         "sources.rows.schema.v is in w in the rows that have landed, where w is too. Hint: name it v_value"),
        ("v__bigint bigint, at string", {}, "v int; v__bigint bigint; at string", {"v": "v__bigint"},
         "sources.rows.schema.v__bigint is in v__bigint in the rows that have landed, where v is too"),
        ("d timestamp, at string", {"partition": "d"}, "d date; at string", {},
         "sources.rows.schema.d has landed as date, and gives the source partitions their names"),
    ],
)  # fmt: skip
def test_what_rows_that_have_landed_refuse(
    schema: str, fields: dict[str, Any], types: str, moved: dict[str, str], message: str
) -> None:
    with pytest.raises(SpecError) as refused:
        places(source(schema, **fields), types, moved)
    assert message in str(refused.value)
