"""Pipelines and their YAML: what stands in a file, and errors that name file, place, rule, value and hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.fields.schemas import Schema, column_type
from windrow.spec.pipelines.documents import load_yaml, load_yaml_documents
from windrow.spec.pipelines.fingerprint import changes, fingerprint_of, fix_of, is_of_source, names_read, source_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source, resolve_environment
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.inputs import ONLY
from windrow.spec.times import DAY, HOUR, MINUTE
from windrow.view.plan.pipeline import plan_sections

FULL = """\
pipeline: flights
lake: lake/flights
sources:
  - name: departures
    files: {path: data/flights, format: json, max_files_per_batch: 1}
    schema: "carrier string, origin string, dest string, departed_at string, arrived_at string, dep_delay int"
    partition: origin
    event_time: {column: departed_at, format: iso8601}
    arrival_time: {column: arrived_at, format: iso8601, zone: America/New_York}
    watermark: {bounded_delay: 2h, idle_timeout: 10m, max_future: 1h}
  - name: clicks
    files: {path: "${CLICKS:-data/clicks}", format: csv, header: false}
    schema: "user_id long, t timestamp"
    event_time: now
    watermark: {processing_time: {}}
stages:
  - name: departures_hourly
    from: departures
    select: {late: "dep_delay > 15"}
    keys: [origin, carrier]
    window: {fixed: {size: 1h}}
    trigger: {after_watermark: {early: {after_count: 100}, late: {after_count: 1}}}
    accumulation: retracting
    allowed_lateness: 12h
    aggregates: {flights: {count: "*"}, delayed: {count_if: late}}
    derive: {share_delayed: "delayed / flights"}
  - name: per_user
    from: clicks
    keys: [user_id]
    window: {sliding: {size: 10m, period: 1m}}
    aggregates: {clicks_count: {count: "*"}}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "pipeline.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def changed(**fields: Any) -> dict[str, Any]:
    return {**load_yaml(FULL), **fields}


def with_source(**fields: Any) -> dict[str, Any]:
    mapping = load_yaml(FULL)
    mapping["sources"][0].update(fields)
    return mapping


def with_stage(**fields: Any) -> dict[str, Any]:
    mapping = load_yaml(FULL)
    mapping["stages"][0].update(fields)
    return mapping


SEVERAL = {
    "name": "several", "window": {"fixed": {"size": "1h"}},
    "inputs": {
        "a": {"from": "departures", "aggregates": {"n": {"count": "*"}}},
        "b": {"from": "clicks", "aggregates": {"m": {"count": "*"}}},
    },
}  # fmt: skip


def test_a_file_gives_a_pipeline(tmp_path: Path) -> None:
    pipeline = Pipeline.from_yaml(written(tmp_path, FULL))
    assert (pipeline.pipeline, pipeline.lake) == ("flights", "lake/flights")
    departures, clicks = pipeline.sources
    assert departures.schema["dep_delay"] == "int"
    assert departures.event_time == TimeColumn("departed_at", TimeFormat.ISO8601)
    assert departures.watermark == Watermark(bounded_delay=2 * HOUR, idle_timeout=10 * MINUTE, max_future=HOUR)
    assert clicks.event_time is None
    assert clicks.files.path == "${CLICKS:-data/clicks}"
    assert pipeline.upstreams_of(pipeline.stage("per_user")) == {ONLY: clicks}


def test_a_pipeline_is_read_as_it_was_written(tmp_path: Path) -> None:
    pipeline = Pipeline.from_yaml(written(tmp_path, FULL))
    assert Pipeline.from_yaml(written(tmp_path, pipeline.to_yaml())) == pipeline
    assert Pipeline.from_mapping(pipeline.to_mapping()) == pipeline


def test_texts_that_look_like_something_else_are_read_as_they_were_written(tmp_path: Path) -> None:
    for lake in ("no", "12:30", "1e3", "010", "1_000", "true", "null", "~", "2000-01-01", ".5", "a: b", "- x", "ä"):
        pipeline = Pipeline.from_mapping(changed(lake=lake))
        assert Pipeline.from_yaml(written(tmp_path, pipeline.to_yaml())).lake == lake


def test_a_stage_reads_the_only_source() -> None:
    mapping = load_yaml(FULL)
    mapping["sources"], mapping["stages"] = mapping["sources"][:1], mapping["stages"][:1]
    del mapping["stages"][0]["from"]
    assert Pipeline.from_mapping(mapping).stages[0].from_ == "departures"


def test_another_lake() -> None:
    assert Pipeline.from_mapping(changed()).with_lake("elsewhere") == Pipeline.from_mapping(changed(lake="elsewhere"))


def test_the_error_of_a_file_names_everything(tmp_path: Path) -> None:
    path = written(tmp_path, FULL.replace("{size: 1h}", "{size: -1m}"))
    with pytest.raises(SpecError) as error:
        Pipeline.from_yaml(path)
    assert str(error.value) == (
        f'{path}: stages[0].window.fixed.size must be positive; got "-1m". Hint: for instance 10s, 1m, 2h, 1d'
    )
    assert (error.value.rule, error.value.got) == ("must be positive", "-1m")
    assert error.value.hint == "for instance 10s, 1m, 2h, 1d"


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (changed(name="x"), "name is not a field. Hint: here it is called pipeline"),
        (changed(stagse=[]), "stagse is not a field. Hint: did you mean stages?"),
        (changed(pipeline=3), "pipeline must be a name of letters, digits and _; got 3"),
        (changed(lake=""), "lake must be a text"),
        (changed(sources={}), "sources must be a list"),
        (with_source(name="clicks"), 'sources[1].name is taken by another source or stage; got "clicks"'),
        (with_source(name="Per_User"), "stages[1].name is taken by another source or stage"),
        (with_source(files={"path": "x", "format": "jsonl"}), "sources[0].files.format must be one of json, csv"),
        (with_source(files={"dir": "x"}), "sources[0].files.dir is not a field. Hint: here it is called path"),
        (with_source(schema="a strin"), "sources[0].schema"),
        (with_source(schema="a string, A int"), 'sources[0].schema has the column A twice'),
        (with_source(schema="nonsense"), "sources[0].schema must be a list of columns and types"),
        (with_source(event_time="departed_at"), "sources[0].event_time must be `now` or a mapping"),
        (with_source(event_time={"column": "departd_at", "format": "iso8601"}),
         'sources[0].event_time.column is not a column here; got "departd_at". Hint: did you mean departed_at?'),
        (with_source(event_time={"column": "dep_delay", "format": "iso8601"}),
         "sources[0].event_time.format does not fit the type of dep_delay (int)"),
        (with_source(event_time={"column": "departed_at"}), "sources[0].event_time.format does not fit the type"),
        (with_source(partition="gate"), "sources[0].partition is not a column here"),
        (with_source(size="octet_length(gate)"), "sources[0].size is not a column here"),
        (with_source(size="rand()"), "sources[0].size"),
        (with_source(watermark={"processing_time": {}}), "sources[0].event_time must be `now` with a processing_time"),
        (with_source(watermark={"bounded_delay": "2h", "idle": "1m"}), "sources[0].watermark.idle is not a field"),
        (with_stage(**{"from": "departurs"}), 'stages[0].from is neither a source nor a stage before it; got'),
        (with_stage(keys=["orign"]),
         'stages[0].keys.orign is not a column here; got "orign". Hint: did you mean origin?'),
        (with_stage(where="delay > 1"), 'stages[0].where is not a column here; got "delay"'),
        (with_stage(select={"late": "x"}), "stages[0].select.late is not a column here"),
        (with_stage(select={"ORIGIN": "1"}), 'stages[0].select.ORIGIN is already a column; got "ORIGIN"'),
        (with_stage(aggregates={"flights": {"sum": "dist"}}, derive={}), "stages[0].aggregates.flights is not"),
        (with_stage(name="two words"), "stages[0].name must be a name"),
        ([], "must be a mapping"),
        (None, "must be a mapping"),
    ],
    ids=range(30),
)  # fmt: skip
def test_an_error_names_place_rule_value_and_hint(mapping: Any, message: str) -> None:
    with pytest.raises(SpecError) as error:
        Pipeline.from_mapping(mapping)
    assert message in str(error.value)
    assert not isinstance(error.value, NotInThisVersion)


@pytest.mark.parametrize("missing", ["pipeline", "lake", "sources", "stages"])
def test_what_a_pipeline_must_have(missing: str) -> None:
    with pytest.raises(SpecError, match=f"^{missing} is missing"):
        Pipeline.from_mapping({name: value for name, value in changed().items() if name != missing})


@pytest.mark.parametrize(
    "mapping",
    [
        changed(catalog="x"),
        changed(stages=[{"name": "both", "join": "inner", "accumulation": "discarding", "window": SEVERAL["window"],
                         "inputs": {n: {"from": n, "columns": {n: "1"}} for n in ("departures", "clicks")}}]),
    ],
    ids=range(2),
)  # fmt: skip
def test_what_is_not_built_yet_is_refused_by_name(mapping: Any) -> None:
    with pytest.raises(NotInThisVersion, match="not in this version"):
        Pipeline.from_mapping(mapping)


def test_a_stage_of_several_inputs() -> None:
    pipeline = Pipeline.from_mapping(changed(stages=[SEVERAL]))
    (stage,), sources = pipeline.stages, pipeline.sources
    assert pipeline.upstreams_of(stage) == dict(zip("ab", sources, strict=True))
    assert Pipeline.from_mapping(pipeline.to_mapping()) == pipeline
    before = fingerprint_of(stage, pipeline.upstreams_of(stage), {})
    assert names_read(before) == {source.name for source in sources}
    assert names_read(fingerprint_of(stage, {"a": sources[0], "b": stage}, {})) == {sources[0].name, stage.name}
    other = Pipeline.from_mapping({**with_source(watermark={"bounded_delay": "9h"}), "stages": [SEVERAL]})
    lines = changes(before, fingerprint_of(stage, other.upstreams_of(stage), {}))
    assert lines and {source_of(stage, line) for line in lines if is_of_source(line)} == {"departures"}
    text = str(plan_sections(pipeline))
    assert "the watermark is the least of those of the inputs" in text and "n = the number of elements" in text


def test_an_input_is_checked_against_what_it_reads() -> None:
    wrong = {
        **SEVERAL,
        "inputs": {**SEVERAL["inputs"], "a": {"from": "departures", "aggregates": {"n": {"sum": "no"}}}},
    }
    with pytest.raises(SpecError, match=r"^stages\[0\]\.inputs\.a\.aggregates\.n is not a column here"):
        Pipeline.from_mapping(changed(stages=[wrong]))
    nameless = {**SEVERAL, "inputs": {**SEVERAL["inputs"], "a": {"aggregates": {"n": {"count": "*"}}}}}
    with pytest.raises(SpecError, match=r"^stages\[0\]\.inputs\.a\.from must be there: which of the sources"):
        Pipeline.from_mapping(changed(stages=[nameless]))


def test_a_join_retracts_where_elements_can_be_taken_back() -> None:
    inputs = {
        "a": {"from": "departures", "columns": {"d": "dep_delay"}},
        "b": {"from": "clicks", "columns": {"at": "1"}},
    }
    join = {"name": "both", "window": {"fixed": {"size": "1h"}}, "join": "inner", "inputs": inputs}
    mapping = {**with_source(weight="dep_delay"), "stages": [join]}
    with pytest.raises(SpecError, match=r"accumulation of a join must be retracting where elements can be taken back"):
        Pipeline.from_mapping(mapping)
    Pipeline.from_mapping({**mapping, "stages": [{**join, "accumulation": "retracting"}]})


def test_the_order_of_inputs_is_part_of_what_a_stage_means() -> None:
    """Its place in what it reads goes by it, and so do the sides of a join."""
    turned = {**SEVERAL, "inputs": dict(reversed(SEVERAL["inputs"].items()))}
    stages = [Pipeline.from_mapping(changed(stages=[one])) for one in (SEVERAL, turned)]
    fingerprints = [fingerprint_of(one.stages[0], one.upstreams_of(one.stages[0]), {}) for one in stages]
    (line,) = changes(*fingerprints)
    assert line.startswith("order: ")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"accumulation": "discarding"}, "accumulation does not go with a weighted source"),
        ({"accumulation": "accumulate_by_default", "trigger": {"repeat": {"after_count": 2, "then": "clear"}}},
         "accumulation does not go with a weighted source"),
    ],
)  # fmt: skip
def test_what_cleared_cannot_be_taken_back_of_several_inputs(fields: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Pipeline.from_mapping({**with_source(weight="dep_delay"), "stages": [{**SEVERAL, **fields}]})


def test_inputs_whose_names_differ_in_case() -> None:
    inputs = {"a": SEVERAL["inputs"]["a"], "A": SEVERAL["inputs"]["b"]}
    with pytest.raises(SpecError, match='must have names that differ in more than their case; got "a, A"'):
        Pipeline.from_mapping(changed(stages=[{**SEVERAL, "inputs": inputs}]))


def test_a_weighted_source() -> None:
    pipeline = Pipeline.from_mapping(with_source(weight="dep_delay"))
    assert pipeline.sources[0].weight == "dep_delay"
    assert Pipeline.from_mapping(pipeline.to_mapping()) == pipeline
    text = str(plan_sections(pipeline))
    assert "dep_delay: +1, or -1 for a row that takes one back" in text
    assert text.count("a window whose rows were all taken back") == 1  # the other stage reads another source


@pytest.mark.parametrize(
    ("weight", "stage", "message"),
    [
        ("sign", {}, "sources[0].weight is not a column here"),
        ("origin", {}, 'sources[0].weight must be a column of whole numbers, +1 or -1; got "string"'),
        ("dep_delay", {"accumulation": "discarding"}, "stages[0].accumulation does not go with a weighted source"),
        ("dep_delay", {"aggregates": {"x": {"approx_count_distinct": "origin"}}, "derive": {}},
         "stages[0].aggregates.x does not go with a weighted source: a sketch cannot give back what it was given"),
    ],
    ids=range(4),
)  # fmt: skip
def test_a_weight_that_does_not_fit(weight: str, stage: dict[str, Any], message: str) -> None:
    mapping = with_stage(**stage)
    mapping["sources"][0]["weight"] = weight
    with pytest.raises(SpecError) as error:
        Pipeline.from_mapping(mapping)
    assert message in str(error.value)


def test_columns_are_the_same_in_upper_and_lower_case() -> None:
    pipeline = Pipeline.from_mapping(with_stage(keys=["Origin"], where="DEST is not null and LATE"))
    assert list(pipeline.stages[0].keys) == ["Origin"]


def test_select_may_read_what_select_has_made() -> None:
    Pipeline.from_mapping(with_stage(select={"late": "dep_delay > 15", "very_late": "late and dep_delay > 60"}))
    with pytest.raises(SpecError, match="is not a column here"):
        Pipeline.from_mapping(with_stage(select={"very_late": "late", "late": "dep_delay > 15"}))


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pipeline: [", "is not YAML"),
        ("a: 1\na: 2", 'stands twice (line 2); got "a"'),
        ("{[1]: 2}", "must have a name in front of the colon (line 1)"),
        ("? {a: 1}\n: 2", "must have a name in front of the colon"),
        ("a: 1\n---\nb: 2", "must hold one document; got 2"),
        ("", "must hold one document; got 0"),
        ("a: !!python/object:os.system x", "is not YAML"),
        ("a: b\n\tc: d", "line 2 is not YAML"),
        ("a: \x07", "is not YAML"),
    ],
    ids=range(9),
)
def test_a_text_that_is_no_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError) as error:
        Pipeline.from_yaml(written(tmp_path, text))
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'pipeline.yaml'}: ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "no.yaml", tmp_path):
        with pytest.raises(SpecError, match="cannot be read"):
            Pipeline.from_yaml(path)
    (tmp_path / "latin.yaml").write_bytes(b"pipeline: \xe4")
    with pytest.raises(SpecError, match="must be a text in UTF-8"):
        Pipeline.from_yaml(tmp_path / "latin.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:00", "12:00"), ("12:00:01.5", "12:00:01.5"), ("2013-01-01", "2013-01-01"), ("no", "no"), ("on", "on"),
        ("yes", "yes"), ("010", "010"), ("0x1F", "0x1F"), ("1_000", "1_000"), ("1e3", "1e3"), ("true", True),
        ("false", False),
        ("True", "True"), ("12", 12), ("-7", -7), ("0", 0), ("1.5", 1.5), ("-1.0e+3", -1000.0), (".5", 0.5),
        (".inf", float("inf")),
        ("null", None), ("~", None), ("", None), ('"12"', "12"), ("[1, a]", [1, "a"]), ("1d", "1d"),
    ],
)  # fmt: skip
def test_yaml_is_not_guessed(text: str, value: Any) -> None:
    assert load_yaml(f"x: {text}") == {"x": value}


def test_yaml_anchors_and_merges() -> None:
    assert load_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}")["b"] == {"x": 1, "y": 3}
    assert load_yaml_documents("a: 1\n---\nb: 2") == [{"a": 1}, {"b": 2}]


# ---------------------------------------------------------------- sources and schemas


def test_the_environment_is_looked_at_when_a_path_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_TEST", "there")
    monkeypatch.delenv("WINDROW_NONE", raising=False)
    assert resolve_environment("a/${WINDROW_TEST}/${WINDROW_NONE:-b}/${WINDROW_NONE:-}") == "a/there/b/"
    with pytest.raises(SpecError, match="is not set in the environment"):
        resolve_environment("${WINDROW_NONE}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("long", "bigint"), ("INTEGER", "int"), ("string", "string"), ("decimal(10,2)", "decimal(10,2)"),
        ("array<int>", "array<int>"), ("real", "float"), (" double ", "double"),
    ],
)  # fmt: skip
def test_types_have_one_name(text: str, kind: str) -> None:
    assert column_type(text) == kind


@pytest.mark.parametrize("text", ["text", "", 3, None, "int, b int"])
def test_not_a_type(text: Any) -> None:
    with pytest.raises(SpecError):
        column_type(text)


def test_a_schema_from_a_text() -> None:
    schema = Schema.parse("a string, `b c` long, d decimal(10, 2), e array<struct<x: int>>")
    assert list(schema) == ["a", "b c", "d", "e"]
    assert (schema["a"], schema["b c"], schema["d"]) == ("string", "bigint", "decimal(10, 2)")
    for text in (
        "a",
        "a string not null",
        "a string; drop table t",
        "",
        "a string default 1",
        "a int) as (select 1",
        "a int) using (b",
    ):
        with pytest.raises(SpecError):
            Schema.parse(text)


def test_sources_are_checked_in_python_too() -> None:
    source = Pipeline.from_mapping(changed()).sources[0]
    assert Source.from_mapping(source.to_mapping()) == source
    with pytest.raises(SpecError, match=r"^event_time\.column is not a column here"):
        Source("s", Schema.parse("a int"), source.event_time, source.watermark, files=source.files)


def test_the_size_of_a_row_is_part_of_what_a_stage_means_that_counts_bytes() -> None:
    counts, others = ({"repeat": {"after_bytes": 100}}, {"repeat": {"after_count": 2}})
    for trigger, changed in ((counts, ["stage.size: (default) -> `dep_delay`"]), (others, [])):
        fingerprints = []
        for size in ({}, {"size": "dep_delay"}):
            mapping = with_stage(trigger=trigger)
            mapping["sources"][0].update(size)
            pipeline = Pipeline.from_mapping(mapping)
            fingerprints.append(fingerprint_of(pipeline.stages[0], {ONLY: pipeline.sources[0]}, {}))
        assert changes(*fingerprints) == changed


def bounded(**watermark: Any) -> Pipeline:
    return Pipeline.from_mapping(with_source(watermark={"bounded_delay": "2h", **watermark}))


def lines_between(before: Pipeline, after: Pipeline) -> list[str]:
    return changes(*(fingerprint_of(one.stages[0], one.upstreams_of(one.stages[0]), {}) for one in (before, after)))


@pytest.mark.parametrize(
    ("given", "bound", "words"),
    [
        (
            {},
            DAY,
            "more than 1d ahead of its arrival is a dead letter future_timestamp and moves no watermark (the def",
        ),
        ({"max_future": "6h"}, 6 * HOUR, "more than 6h ahead of its arrival is a dead letter future_timestamp"),
        ({"max_future": "none"}, None, "any time ahead of its arrival, and then moves the watermark there"),
    ],
)
def test_a_source_bounds_the_future_by_itself(given: dict[str, str], bound: int | None, words: str) -> None:
    pipeline = bounded(**given)
    assert pipeline.sources[0].max_future == bound
    assert Pipeline.from_mapping(pipeline.to_mapping()) == pipeline
    assert words in str(plan_sections(pipeline))


def test_a_row_that_arrives_at_its_event_time_needs_no_bound() -> None:
    pipeline = Pipeline.from_mapping(with_source(event_time="now", watermark={"processing_time": {}}))
    assert pipeline.sources[0].max_future is None and "ahead of its arrival" not in str(plan_sections(pipeline))


def test_the_bound_of_the_future_is_part_of_what_a_stage_means() -> None:
    """Rows have landed under it. `none` means what a source without a bound meant before there was a default."""
    (line,) = lines_between(bounded(max_future="none"), bounded())
    assert line == "source.watermark.max_future: none -> 1d"
    assert fix_of(line) == (
        "write `watermark: {max_future: none}` to go on under the bound of the rows that have landed"
    )
    assert lines_between(bounded(), bounded(max_future="24h")) == []
    none = bounded(max_future="none")
    fingerprint = fingerprint_of(none.stages[0], none.upstreams_of(none.stages[0]), {})
    assert fingerprint["source"]["watermark"] == {"bounded_delay": "2h"}


def between(lake: str, path: str, connector: str = "files") -> Pipeline:
    mapping = with_source(**{connector: {"path": path}})
    if connector != "files":
        del mapping["sources"][0]["files"]
    return Pipeline.from_mapping({**mapping, "lake": lake})


@pytest.mark.parametrize("lake", ["lake/*", "lake/a?", "lake/[ab]", "s3a://b/{x,y}", "/data/a]"])
def test_a_lake_is_no_pattern(lake: str) -> None:
    with pytest.raises(SpecError, match=r'^lake must have none of \* \? \[ \] \{ \}.*got ".*Hint: rename the folder'):
        between(lake, "data/flights")


@pytest.mark.parametrize(
    ("lake", "path", "message"),
    [
        ("data/flights/lake", "data/flights", "^lake must not be inside of what a source reads; got .*Hint: sources"),
        ("data", "data/", "^lake must not be inside of what a source reads"),
        ("data/lake", "data/*/in.json", "^lake must not be inside of what a source reads"),
        ("data/in/lake", "data/i*", "^lake must not be inside of what a source reads"),
        ("data/b/lake", "{in.csv,data/[^a]}", "^lake must not be inside of what a source reads"),
        ("data", "data/*.csv", "^lake must not be inside of what a source reads"),
        ("data/x/../flights/lake", "./data/flights", "^lake must not be inside of what a source reads"),
        ("file:///data/a%20b/lake", "/data/a b", "^lake must not be inside of what a source reads"),
        ("S3A://bucket//in/lake", "s3a://bucket/in//", "^lake must not be inside of what a source reads"),
        (
            "lake",
            "lake/incoming",
            r"^sources\[0\]\.files\.path must not be inside of the lake; got .*Hint: lake is lake",
        ),
        ("lake", "lake/in/2024-*.json", r"^sources\[0\]\.files\.path must not be inside of the lake"),
        ("${DATA}/lake", "${DATA}", '^lake must not be inside of what a source reads; got "\\$'),
    ],
)
def test_a_lake_is_apart_from_what_is_read(lake: str, path: str, message: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("DATA", "/data")
    with pytest.raises(SpecError, match=message):
        between(lake, path)


def test_a_variable_does_not_hide_a_pattern(monkeypatch: Any) -> None:
    monkeypatch.setenv("DATA", "/data/*")
    with pytest.raises(SpecError, match=r"^lake must have none of .*got .\$\{DATA\}/lake"):
        between("${DATA}/lake", "data")


def test_a_link_does_not_hide_that_a_lake_is_among_the_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(SpecError, match=r"^lake must not be inside of what a source reads"):
        between(str(tmp_path / "link" / "lake"), str(tmp_path / "data"))


@pytest.mark.parametrize(
    ("lake", "path", "connector"),
    [
        ("lake", "lakes", "files"),
        ("lake/readings", "readings*.csv", "files"),
        ("data/lake", "data/{old,new}/*.json", "files"),
        ("data/lake", "data/{a.csv,more/*.csv}", "files"),
        ("data/lake", "data/[a-k]*", "files"),
        ("data/lake", "data/in", "files"),
        ("s3a://bucket/data/lake", "data", "files"),
        ("${UNKNOWN_HERE}/lake", "${UNKNOWN_HERE}", "files"),
        ("lake", "lake/of_another_pipeline/panes", "delta"),
    ],
)
def test_places_that_are_apart(lake: str, path: str, connector: str) -> None:
    assert between(lake, path, connector).lake == lake


def test_a_pipeline_does_not_read_its_own_tables() -> None:
    with pytest.raises(SpecError, match=r"^sources\[0\]\.delta\.path must not be inside of the lake"):
        between("lake", "lake/departures/raw", "delta")
