"""A new generation of a stage is built beside the old one, and put in its place when it has caught up and passed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
import yaml
from deltalake import DeltaTable

from tests.drivers.test_schema_changes import SUMS, pipeline, put, stream_of, sums
from tests.lake import content, iso, table
from windrow.drivers.inspect.diff.diff import diff
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import NewerGeneration, NotYet, SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateFailed

SCHEMA = "k string, v int, at string"
MORE = {**SUMS, "aggregates": {**SUMS["aggregates"], "most": {"max": "v"}}}
TABLES = ("current", "panes", "dead_letters", "ticks")


def old(root: Path) -> Pipeline:
    return pipeline(root, SCHEMA, SUMS)


def new(root: Path, suite: list[dict[str, Any]] | None = None) -> Pipeline:
    if suite is None:
        return pipeline(root, SCHEMA, MORE)
    (root / "suite.yaml").write_text(yaml.safe_dump(suite))
    return pipeline(root, SCHEMA, {**MORE, "quality": str(root / "suite.yaml")})


def few(least: int) -> list[dict[str, Any]]:
    return [{"expect": "column_values_to_be_between", "column": "most", "min_value": least, "severity": "critical"}]


def columns(root: Path, name: str) -> list[str]:
    return DeltaTable(f"{root}/lake/sums/{name}").schema().to_arrow().names


def test_the_old_generation_goes_on_until_the_new_one_is_in_its_place(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)}, {"k": "a", "v": 1, "at": iso(11)})
    stream = stream_of(old(tmp_path), spark)
    stream.cycle()
    stream.refresh()
    put(tmp_path, "2", {"k": "a", "v": 5, "at": iso(21)})
    with pytest.raises(GateFailed, match="gate of sums stops"):
        run(new(tmp_path, few(2)), spark, once=True, from_start=True)
    put(tmp_path, "3", {"k": "a", "v": 7, "at": iso(31)})
    stream.cycle()
    stream.refresh()
    assert sums(spark, tmp_path) == [("a", 1, 1), ("a", 1, 1)], "the windows that are complete by now"
    assert "most" not in columns(tmp_path, "current")
    run(new(tmp_path, few(1)), spark, once=True)
    assert [name for name in TABLES[:2] if "most" in columns(tmp_path, name)] == ["current", "panes"]
    put(tmp_path, "4", {"k": "a", "v": 9, "at": iso(41)})
    with pytest.raises(NewerGeneration) as ended:
        stream.cycle()
        stream.refresh()
    words = (
        "the tables of sums show generation 2, and this run is of generation 1. It has ended; everything that it com"
    )
    assert words in ended.value.in_words
    with pytest.raises(SpecError, match=r"stages.sums means something else.*aggregates.most"):
        run(old(tmp_path), spark, once=True)
    run(new(tmp_path, few(1)), spark, once=True, drain=True)
    assert [row[2] for row in sums(spark, tmp_path)] == [1, 1, 5, 7, 9]
    assert all(one.equal for one in reconcile(new(tmp_path), spark))


def test_the_old_file_can_be_run_again_until_the_tables_show_the_new_generation(spark, tmp_path: Path) -> None:
    """After a crash, and by a scheduler that has not got the new file yet."""
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)}, {"k": "a", "v": 1, "at": iso(11)})
    run(old(tmp_path), spark, once=True)
    building = stream_of(new(tmp_path), spark, from_start=True)
    building.work.landings[0].run()
    put(tmp_path, "2", {"k": "a", "v": 5, "at": iso(21)})
    run(old(tmp_path), spark, once=True)
    assert sums(spark, tmp_path) == [("a", 1, 1)]
    backfill(old(tmp_path), spark, "2024-01-01", "2024-01-02")
    changed = {**SUMS, "window": {"fixed": {"size": "20s"}}}
    with pytest.raises(SpecError, match=r"stages.sums means something else"):
        run(pipeline(tmp_path, SCHEMA, changed), spark, once=True)
    building.cycle()
    assert "most" in columns(tmp_path, "current")
    with pytest.raises(SpecError, match=r"stages.sums means something else"):
        run(old(tmp_path), spark, once=True)


def test_a_batch_does_not_show_a_generation_that_is_built_by_half(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)}, {"k": "a", "v": 1, "at": iso(11)})
    run(old(tmp_path), spark, once=True, drain=True)
    (stage,) = stream_of(new(tmp_path), spark, from_start=True).work.stages
    stage.tick(lambda: stage.runner.advance(stage.runner.upstream.head(spark)))
    put(tmp_path, "2", {"k": "a", "v": 5, "at": iso(21)})
    run(old(tmp_path), spark, once=True)
    shown = content(spark, tmp_path, "current")
    batches: list[Callable[[], object]] = [
        lambda: reconcile(new(tmp_path), spark),
        lambda: backfill(new(tmp_path), spark, "2024-01-01", "2024-01-02", dry_run=True),
        lambda: backfill(new(tmp_path), spark, "2024-01-01", "2024-01-02"),
        lambda: restate(new(tmp_path), spark),
    ]
    for batch in batches:
        with pytest.raises(
            NotYet, match=r"stages\.sums has a generation 2 that has yet to read some of what has landed"
        ):
            batch()
        assert content(spark, tmp_path, "current") == shown and "most" not in columns(tmp_path, "panes")
    run(new(tmp_path), spark, once=True)
    assert "most" in columns(tmp_path, "current") and all(one.equal for one in reconcile(new(tmp_path), spark))


@pytest.mark.long
def test_a_chain_goes_on_in_its_old_generations_together(spark, tmp_path: Path) -> None:
    behind = {"name": "behind", "from": "sums", "keys": ["k"], "aggregates": {"all": {"sum": "total"}}}
    before, after = (pipeline(tmp_path, SCHEMA, one, {**behind, "window": {"fixed": {"size": "1m"}}})
                     for one in (SUMS, MORE))  # fmt: skip
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)})
    run(before, spark, once=True)
    stream_of(after, spark, from_start=True)
    put(tmp_path, "2", {"k": "a", "v": 2, "at": iso(2)})
    run(before, spark, once=True, drain=True)
    assert [row["all"] for row in table(spark, tmp_path, "current", "behind").collect()] == [3]
    run(after, spark, once=True, drain=True)
    assert "most" in columns(tmp_path, "current")
    assert all(one.equal for one in reconcile(after, spark))


def test_a_reader_sees_the_one_generation_or_the_other(spark, tmp_path: Path) -> None:
    """Read again and again by Polars while the tables are put in place: rows and columns of one of them, never both."""
    for number in range(4):
        put(tmp_path, str(number), *[{"k": "abc"[n % 3], "v": n, "at": iso(60 * number + n)} for n in range(50)])
    run(old(tmp_path), spark, once=True, drain=True)
    before = _whole(tmp_path)
    seen: set[tuple[tuple[str, ...], int, int]] = set()
    done = threading.Event()

    failed: list[BaseException] = []

    def look() -> None:
        try:
            while not done.is_set():
                seen.add(_whole(tmp_path))
            seen.add(_whole(tmp_path))
        except BaseException as error:
            failed.append(error)

    reader = threading.Thread(target=look)
    reader.start()
    try:
        run(pipeline(tmp_path, SCHEMA, {**MORE, "where": "v >= 10"}), spark, once=True, drain=True, from_start=True)
    finally:
        done.set()
        reader.join()
    assert not failed, failed
    assert seen == {before, _whole(tmp_path)} and before != _whole(tmp_path)


def _whole(root: Path) -> tuple[tuple[str, ...], int, int]:
    rows = polars.read_delta(str(root / "lake/sums/current"))
    return tuple(rows.columns), int(rows["num"].sum()), int(rows["total"].sum())


def test_tables_that_have_shown_nothing_get_the_columns_of_the_new_generation(spark, tmp_path: Path) -> None:
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)})
    run(old(tmp_path), spark, once=True)
    assert table(spark, tmp_path, "current").count() == 0
    run(new(tmp_path), spark, once=True, drain=True, from_start=True)
    assert [row["most"] for row in table(spark, tmp_path, "current").collect()] == [1]
    assert [row["most"] for row in table(spark, tmp_path, "panes").collect()] == [1]


def test_what_would_change_is_shown_before_it_is_in_place(spark, tmp_path: Path) -> None:
    """A generation with one aggregate more is compared on what both have, and judged on what only it has."""
    put(tmp_path, "1", {"k": "a", "v": 1, "at": iso(1)}, {"k": "a", "v": 1, "at": iso(11)})
    run(old(tmp_path), spark, once=True, drain=True)
    before = {name: content(spark, tmp_path, name) for name in TABLES}
    with pytest.raises(GateFailed):
        run(new(tmp_path, few(2)), spark, once=True, drain=True, from_start=True)
    assert {name: content(spark, tmp_path, name) for name in TABLES} == before
    (found,) = diff(new(tmp_path), generation=2)
    assert found.different == 0
