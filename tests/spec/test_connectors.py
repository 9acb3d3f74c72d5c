"""Connectors: what a source may read from, and what is refused, with the fix."""

from typing import Any

import pytest

from windrow.drivers.ingest.quarantine import quarantine
from windrow.drivers.inspect.plan import plan
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.fingerprint import changes, fingerprint_of, gains
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.inputs import ONLY

KAFKA = {"servers": "${BROKERS}", "topic": "clicks"}


def document(**source: Any) -> dict[str, Any]:
    stage = {"keys": ["k"], "window": {"fixed": {"size": "1m"}}, "aggregates": {"n": {"count": "*"}}}
    fields = {"name": "clicks", "schema": "k string, v long", "event_time": "now", "watermark": {"processing_time": {}}}
    return {"pipeline": "p", "lake": "lakes/p", "sources": [{**fields, **source}], "stages": [stage]}


def kafka(**fields: Any) -> dict[str, Any]:
    return document(kafka={**KAFKA, **fields})


def test_a_topic_is_read_and_written_back() -> None:
    options = {"kafka.security.protocol": "SSL", "kafka.ssl.key.password": "${SECRET}", "minPartitions": 4}
    pipeline = Pipeline.from_mapping(kafka(options=options, start="latest", max_offsets_per_batch=10))
    source = pipeline.sources[0]
    assert Pipeline.from_mapping(pipeline.to_mapping()) == pipeline
    assert source.kafka is not None and source.kafka.options["minPartitions"] == "4"
    assert source.columns.ddl == "`k` string, `v` bigint, `_key` string, `_timestamp` timestamp, `_rescued` string"
    assert hash(source) is not None


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (document(), "sources[0] must have exactly one of files, kafka, delta, rate"),
        (document(rate={"rows_per_second": 0}), "rate.rows_per_second must be positive"),
        (document(rate={}), "sources[0].schema has a column that numbers that count up do not have"),
        (document(delta={"table": "t"}), "here it is called path"),
        (document(delta={"path": "t"}, unknown="reject"), "sources[0].unknown is for JSON only"),
        (document(files={"path": "t"}, unknown="drop"), "Hint: here it is called keep"),
        (document(files={"path": "t", "format": "csv", "separator": "ab"}), "files.separator must be one character"),
        (document(files={"path": "t", "format": "csv", "separator": "x"}), "files.separator must be one character"),
        (document(files={"path": "t", "format": "csv", "delimiter": ";"}), "Hint: here it is called separator"),
        (document(files={"path": "t", "separator": ";"}), "sources[0].files.separator is for CSV only"),
        (document(files={"path": "t"}, schema="_rescued string"), "schema._rescued is a column that every row has"),
        (document(kafka=KAFKA, files={"path": "x"}), 'exactly one of files, kafka'),
        (document(kafka=KAFKA, partition="k"), "sources[0].partition is not for kafka"),
        (kafka(topic="a, b"), "sources[0].kafka.topic must be the name of one topic"),
        (kafka(topic="${TOPIC}"), "sources[0].kafka.topic must be the name of one topic"),
        (kafka(value="avro"), "sources[0].kafka.value must be one of json"),
        (kafka(start="first"), "sources[0].kafka.start must be one of earliest, latest"),
        (kafka(bootstrap_servers="x"), "here it is called servers"),
        (kafka(max_offsets_per_batch=0), "sources[0].kafka.max_offsets_per_batch must be positive"),
        (kafka(options={"startingOffsets": "latest"}), "it is the field start"),
        (kafka(options={"kafka.bootstrap.servers": "x"}), "it is the field servers"),
        (kafka(options={"endingOffsets": "x"}), "landing sets it itself"),
        (kafka(options={"a": ["x"]}), "sources[0].kafka.options.a must be a text"),
        (document(kafka=KAFKA, schema="_key string"), "sources[0].schema._key is a column that every row has"),
        (document(kafka=KAFKA, schema="_Step long"), "Hint: leave it out, or rename it: Step"),
        (document(files={"path": "x"}, schema="_raw string"), "sources[0].schema._raw is a column that every row has"),
        (document(files={"path": "x"}, event_time={"column": "_timestamp"}), "_timestamp"),
    ],
)  # fmt: skip
def test_what_is_refused(mapping: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as refused:
        Pipeline.from_mapping(mapping)
    assert message in str(refused.value)


def test_a_value_that_is_wrong_is_not_shown_where_it_may_be_a_secret() -> None:
    with pytest.raises(SpecError) as refused:
        Pipeline.from_mapping(kafka(options={"kafka.ssl.key.password": ["quite-secret"]}))
    assert "quite-secret" not in str(refused.value)


def test_another_topic_is_another_fingerprint_and_options_are_in_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKERS", "one:9092")
    fingerprints = [
        fingerprint_of(pipeline.stages[0], {ONLY: pipeline.sources[0]}, {})
        for pipeline in map(Pipeline.from_mapping, (kafka(), kafka(servers="x", options={"a": "b"}), kafka(topic="t")))
    ]
    assert changes(fingerprints[0], fingerprints[1]) == []
    assert changes(fingerprints[0], fingerprints[2]) == ["source.topic: clicks -> t"]
    assert "one:9092" not in str(fingerprints)


def test_the_plan_says_what_is_read_and_no_value_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKERS", "one:9092")
    text = " ".join(plan(Pipeline.from_mapping(kafka(start="latest"))).split())
    assert "JSON objects in the topic clicks of ${BROKERS}, from its end at the first run" in text
    assert "at most 1,000,000 messages" in text and "_timestamp timestamp" in text
    assert "the least over the topic's partitions" in text and "one:9092" not in text


def test_a_change_feed_has_its_own_weight() -> None:
    feed = Pipeline.from_mapping(document(delta={"path": "t", "changes": "feed"}))
    assert feed.sources[0].weight == "_weight" and feed.sources[0].columns["_weight"] == "int"
    assert Pipeline.from_mapping(feed.to_mapping()) == feed
    words = " ".join(plan(feed).split())
    assert "every change of the Delta table t" in words and "_weight: +1, or -1 for a row that takes one back" in words
    assert "beside" not in plan(Pipeline.from_mapping(document(delta={"path": "t"})))
    with pytest.raises(SpecError, match="weight is _weight in a change feed"):
        Pipeline.from_mapping(document(delta={"path": "t", "changes": "feed"}, weight="v"))
    with pytest.raises(SpecError, match="is a column that every row has beside"):
        Pipeline.from_mapping(document(delta={"path": "t", "changes": "feed"}, schema="k string, _weight int"))


def test_a_column_more_is_no_change_and_another_type_is_one() -> None:
    def fingerprint(schema: str) -> dict[str, Any]:
        pipeline = Pipeline.from_mapping(document(files={"path": "x"}, schema=schema))
        return fingerprint_of(pipeline.stages[0], {ONLY: pipeline.sources[0]}, {})

    before = fingerprint("k string, v long")
    assert changes(before, fingerprint("x int, k string, v long, y date")) == []
    assert gains(before, fingerprint("x int, k string, v long, y date")) == ["x int", "y date"]
    assert changes(before, fingerprint("k string, v int")) == ["source.schema.v: bigint -> int"]
    assert changes(before, fingerprint("k string")) == [], "no stage uses it"


def test_only_sources_of_files_have_a_quarantine() -> None:
    with pytest.raises(SpecError, match="source has no files that could be taken out"):
        quarantine(Pipeline.from_mapping(kafka()), None, "clicks", "x.json")  # type: ignore[arg-type]
