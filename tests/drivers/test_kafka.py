"""Kafka as a source, with a real broker: every message once, whatever is killed; partitions make the watermark."""

import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.broker import Broker
from tests.lake import iso, table
from tests.servers import NoServer
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.inspect.status.status import status
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SourceUnavailable, SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import SECOND, parse_time
from windrow.store.delta.location import Lake

START = parse_time(iso(0))
IMPATIENT = {"kafka.default.api.timeout.ms": "1500", "kafka.request.timeout.ms": "1000", "fetchOffset.numRetries": "1"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    made = Broker(tmp_path_factory.mktemp("kafka"))
    try:
        made.start()
    except NoServer as reason:
        pytest.skip(str(reason))
    yield made
    made.end()


@pytest.fixture(autouse=True)
def servers(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKERS", broker.servers)


def pipeline(
    root: Path, topic: str, watermark: dict[str, Any] | None = None, trigger: Any = "default", **kafka: Any
) -> Pipeline:
    """One stage over a topic: sums of ten seconds a key. Rows carry the time of their arrival."""
    connector = {"servers": "${BROKERS}", "topic": topic, "max_offsets_per_batch": 40, **kafka}
    source = {
        "name": "clicks", "kafka": connector, "schema": "k string, v long, at string, arrived string",
        "event_time": {"column": "at", "format": "iso8601"}, "arrival_time": {"column": "arrived", "format": "iso8601"},
        "watermark": watermark or {"bounded_delay": "5s"},
    }  # fmt: skip
    stage = {
        "name": "sums", "keys": ["k"], "window": {"fixed": {"size": "10s"}}, "accumulation": "retracting",
        "aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}}, "allowed_lateness": "1h", "trigger": trigger,
    }  # fmt: skip
    return Pipeline.from_mapping(
        {"pipeline": "tests", "lake": str(root / "lake"), "sources": [source], "stages": [stage]}
    )


def row(at: int, v: int = 1, arrived: int = 0) -> dict[str, Any]:
    return {"k": "ab"[at % 2], "v": v, "at": iso(at), "arrived": iso(max(at, arrived))}


def land(spark: Any, made: Pipeline) -> None:
    """Land what is there, without a stage that reads it."""
    Landing(spark, made.sources[0], Lake.of(made.lake)).run()


def landed(spark: Any, root: Path) -> list[tuple[str, int]]:
    raw = table(spark, root, "raw", "clicks")
    return sorted((one["_partition"], int(one["_offset"])) for one in raw.collect())


def test_each_partition_has_its_watermark_and_the_slowest_that_is_not_idle_holds(spark, tmp_path: Path, broker) -> None:
    """Partition 3 sends first and then never again, 2 is far behind, 0 and 1 are at the head.

    Half of the partitions are past the window at 40 s when the slowest one is not: it is shown early. In between the
    broker is killed.
    """
    broker.create("parts", 4)
    broker.send("parts", [(3, row(0)), (0, row(1)), (1, row(2)), (2, row(3))])
    trigger = {"after_watermark": {"early": {"at_watermark": {"percentile": 50}}, "late": {"after_count": 1}}}
    made = pipeline(tmp_path, "parts", {"bounded_delay": "5s", "idle_timeout": "60s"}, trigger)
    run(made, spark, once=True)
    assert status(made, spark)[1][0].watermark == START - 5 * SECOND
    broker.end(signal.SIGKILL)
    broker.start()
    broker.send("parts", [(0, row(100)), (1, row(90)), (2, row(40, arrived=100))])
    run(made, spark, once=True)
    (source,), (stage,) = status(made, spark)
    assert source.rows == 7 and source.files == 0 and source.offsets == {"0": 1, "1": 1, "2": 1, "3": 0}
    seen = [(part.partition, (part.watermark - START) // SECOND, part.idle) for part in stage.partitions]
    assert sorted(seen) == [("0", 95, False), ("1", 85, False), ("2", 35, False), ("3", -5, True)]
    assert stage.watermark == START + 35 * SECOND
    panes = {(one["k"], iso_seconds(one), one["timing"], one["num"], one["watermark_percentile"])
             for one in table(spark, tmp_path, "panes").collect()}  # fmt: skip
    assert panes == {("a", 0, "on_time", 2, 100), ("b", 0, "on_time", 2, 100), ("a", 40, "early", 1, 66)}
    assert reconcile(made, spark)[0].equal


@pytest.mark.long
def test_a_broker_that_is_killed_and_a_lost_checkpoint_lose_nothing_and_repeat_nothing(
    spark, tmp_path: Path, broker
) -> None:
    broker.create("kills", 4)
    broker.send("kills", [(n % 3, row(n)) for n in range(100)])
    made = pipeline(tmp_path, "kills")
    run(made, spark, once=True)
    broker.end(signal.SIGKILL)
    with pytest.raises(SourceUnavailable, match="its brokers do not answer"):
        land(spark, pipeline(tmp_path, "kills", options=IMPATIENT))
    broker.start()
    broker.send("kills", [(n % 3, row(n)) for n in range(100, 150)])
    run(made, spark, once=True)
    shutil.rmtree(tmp_path / "lake" / "_windrow" / "checkpoints")
    broker.send("kills", [(n % 4, row(n)) for n in range(150, 200)])
    run(made, spark, once=True)
    run(made, spark, once=True, drain=True)
    everything = landed(spark, tmp_path)
    assert len(everything) == len(set(everything)) == 200
    assert sum(one.num for one in table(spark, tmp_path, "current").collect()) == 200
    (result,) = reconcile(made, spark)
    assert result.equal and result.windows == 40


@pytest.mark.long
def test_a_stream_goes_on_when_the_broker_is_there_again(spark, tmp_path: Path, broker, capfd) -> None:
    """The broker dies under a stream that runs; it warns, asks again, and has every message in the end."""
    broker.create("outage", 2)
    broker.send("outage", [(n % 2, row(n)) for n in range(20)])
    made = pipeline(tmp_path, "outage", options=IMPATIENT)
    stop, seen, failures = threading.Event(), [], []

    def work() -> None:
        try:
            run(made, spark, every=0.3, stop=stop, watch=lambda progress: seen.append(progress.control.counters.read))
        except Exception as failure:
            failures.append(failure)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        wait_for(lambda: sum(seen) == 20)
        broker.end(signal.SIGKILL)
        time.sleep(4)
        broker.start()
        broker.send("outage", [(n % 2, row(n)) for n in range(20, 30)])
        wait_for(lambda: sum(seen) == 30 or failures)
    finally:
        stop.set()
        thread.join(60)
    assert not failures and sum(seen) == 30
    assert len(set(landed(spark, tmp_path))) == 30


def iso_seconds(pane: Any) -> int:
    """The start of a pane's window, in seconds after the first."""
    return int((parse_time(pane["window_start"].isoformat() + "Z") - START) // SECOND)


def wait_for(condition: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.1)


def test_tombstones_and_messages_that_are_no_json_have_a_row(spark, tmp_path: Path, broker) -> None:
    broker.create("poison", 1)
    values: list[Any] = [row(1), None, b"", b"{", b"null", b"[1]", {**row(2), "v": "many"}, b"\xff"]
    broker.send("poison", [(0, value) for value in values], key="x")
    land(spark, pipeline(tmp_path, "poison"))
    raw = {int(one["_offset"]): one for one in table(spark, tmp_path, "raw", "clicks").collect()}
    assert [raw[n]["_reason"] for n in range(8)] == [None] + ["unreadable"] * 7
    assert {raw[n]["_key"] for n in raw} == {"x"}
    assert [raw[n]["_raw"] for n in range(6)] == [None, "null", "", "{", "null", "[1]"] and "many" in raw[6]["_raw"]


@pytest.mark.long
def test_the_time_of_a_message_can_be_the_event_time_and_its_key_a_key(spark, tmp_path: Path, broker) -> None:
    broker.create("times", 1)
    broker.send("times", [(0, {"v": 3})], key="left", at_ms=(START + 12 * SECOND) // 1000)
    document = pipeline(tmp_path, "times").to_mapping()
    document["sources"][0].update(event_time={"column": "_timestamp"}, schema="v long")
    del document["sources"][0]["arrival_time"]
    document["stages"][0].update(keys=[{"who": "_key"}])
    land(spark, Pipeline.from_mapping(document))
    (one,) = table(spark, tmp_path, "raw", "clicks").collect()
    assert (one["_key"], one["v"], one["_event_time"]) == ("left", 3, START + 12 * SECOND)


@pytest.mark.long
def test_from_the_end_only_what_comes_after_the_first_run(spark, tmp_path: Path, broker) -> None:
    broker.create("latest", 2)
    broker.send("latest", [(0, row(1)), (1, row(2))])
    made = pipeline(tmp_path, "latest", start="latest")
    land(spark, made)
    broker.send("latest", [(0, row(3))])
    land(spark, made)
    assert landed(spark, tmp_path) == [("0", 1)]


def test_what_is_not_there_is_told_and_no_value_of_the_environment(spark, tmp_path: Path, broker, monkeypatch) -> None:
    with pytest.raises(SpecError, match=r"sources.clicks.kafka.topic is no topic that the brokers know; got \"none\""):
        land(spark, pipeline(tmp_path / "a", "none"))
    monkeypatch.setenv("SECRET", "quite-secret")
    options = {"kafka.security.protocol": "${SECRET}"}
    with pytest.raises(SpecError, match=r"options is refused by Kafka's client, at security.protocol") as refused:
        land(spark, pipeline(tmp_path / "b", "none", options=options))
    assert "quite-secret" not in str(refused.value)
    broker.create("secrets", 1)
    broker.send("secrets", [(0, row(1))])
    land(spark, pipeline(tmp_path / "c", "secrets", options={"kafka.client.id": "${SECRET}"}))
    written = [path for path in (tmp_path / "c").rglob("*") if path.is_file()]
    words = (b"quite-secret", broker.servers.encode())
    assert written and not [path for path in written if any(word in path.read_bytes() for word in words)]
