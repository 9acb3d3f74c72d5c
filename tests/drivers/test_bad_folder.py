"""A folder with all that can be wrong with files and times: the stream goes on, and each of them is named."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import windrow
from tests.lake import iso, table
from windrow.drivers.inspect.status.status import status
from windrow.spec.pipelines.pipeline import Pipeline

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user may work in: those of pytest are its owner's."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


def two_sources(root: Path) -> Pipeline:
    source = {
        "schema": "k string, v long, at string", "event_time": {"column": "at", "format": "iso8601"},
        "watermark": {"bounded_delay": "5s"},
    }  # fmt: skip
    stage = {"window": {"fixed": {"size": "10s"}}, "keys": ["k"], "aggregates": {"num": {"count": "*"}}}
    formats = ("json", "parquet")
    files = {one: {"path": str(root / one), "format": one, "max_files_per_batch": 2} for one in formats}
    return Pipeline.from_mapping({
        "pipeline": "tests", "lake": str(root / "lake"),
        "sources": [{"name": one, "files": files[one], **source} for one in formats],
        "stages": [{"name": f"of_{one}", "from": one, **stage} for one in formats],
    })  # fmt: skip


def run_as_somebody(root: Path, pipeline: Pipeline) -> str:
    """Run it once, as a user whom permissions concern: the superuser may read everything."""
    path = root / "pipeline.yaml"
    path.write_text(yaml.safe_dump(pipeline.to_mapping()))
    command = [sys.executable, "-c", "from windrow.cli import main; main()", "run", str(path), "--once"]
    if os.geteuid() == 0:
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    environment = {**os.environ, "PYTHONPATH": str(Path(windrow.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment)
    assert done.returncode == 0 and "\tat " not in done.stderr, done.stderr
    return done.stderr


def write(root: Path, name: str, *rows: tuple[int, str]) -> bytes:
    """A JSON and a Parquet file of these rows; the bytes of the latter."""
    whole = [{"k": "a", "v": v, "at": at} for v, at in rows]
    (root / "json" / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in whole))
    columns = {"k": ["a"] * len(rows), "v": pa.array([v for v, _ in rows], pa.int64()), "at": [at for _, at in rows]}
    path = root / "parquet" / f"{name}.parquet"
    pq.write_table(pa.table(columns), path)
    return path.read_bytes()


def test_another_folder_is_refused_by_name_and_a_pattern_over_both_goes_on(spark, tmp_path: Path) -> None:
    def over(path: str) -> Pipeline:
        mapping = two_sources(tmp_path).to_mapping()
        source = {**mapping["sources"][0], "files": {"path": str(tmp_path / path), "format": "json"}}
        return Pipeline.from_mapping({**mapping, "sources": [source], "stages": mapping["stages"][:1]})

    for folder, second in (("old", 1), ("new", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.json").write_text(json.dumps({"k": "a", "v": second, "at": iso(second)}) + "\n")
    for path in ("old/old.json", "old"):
        windrow.run(over(path), spark, once=True)
    with pytest.raises(windrow.SpecError, match=r"sources\.json\.files\.path must hold the files that landed last"):
        windrow.run(over("new"), spark, once=True)
    windrow.run(over("{old,new}/*.json"), spark, once=True)
    landed = spark.read.format("delta").load(str(tmp_path / "lake" / "json" / "raw"))
    assert sorted(row.v for row in landed.collect()) == [1, 2]


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="needs setpriv to be somebody else")
def test_nothing_in_a_folder_stops_the_stream(spark: Any, folder: Path) -> None:
    for name in ("json", "parquet", "lake"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    whole = write(folder, "1", (1, iso(1)), (2, iso(40)))
    run_as_somebody(folder, two_sources(folder))

    write(folder, "2", (3, iso(41)), (4, "3000-01-01T00:00:00Z"), (5, "0001-01-01T00:00:00Z"), (6, iso(45)))
    packed = gzip.compress(os.urandom(5000).hex().encode())
    (folder / "json" / "broken.json.gz").write_bytes(packed[:2000])
    (folder / "parquet" / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    for path in (folder / "json" / "secret.json", folder / "parquet" / "secret.parquet"):
        path.write_bytes(b"{}\n")
        path.chmod(0o000)
    write(folder, "3", (7, iso(46)))
    said = run_as_somebody(folder, two_sources(folder))
    assert all(name in said for name in ("broken.json.gz", "cut.parquet", "secret.json", "secret.parquet"))
    files = {"json": {"broken.json.gz": "it ends too early", "secret.json": "there is no permission to read it"},
             "parquet": {"cut.parquet": "it is no whole Parquet file",
                         "secret.parquet": "there is no permission to read it"}}  # fmt: skip
    sources, stages = status(two_sources(folder), spark)
    for source, stage in zip(sources, stages, strict=True):
        letters = table(spark, folder, "dead_letters", source.source).drop("event_time").collect()
        named = {(row["offset"].rsplit("/", 1)[-1], row["element"].split(" (")[0])
                 for row in letters if row["reason"] == "unreadable_file"}  # fmt: skip
        assert named == set(files[source.source].items())
        (future,) = [row for row in letters if row["reason"] == "future_timestamp"]
        assert json.loads(future["element"])["v"] == 4
        (late,) = table(spark, folder, "dead_letters", stage.stage).select("reason", "element").collect()
        assert (late["reason"], json.loads(late["element"])["v"]) == ("late", 5)
        assert source.dead == {"unreadable_file": 2, "future_timestamp": 1}
        assert (source.rows, source.files) == (9, 5)
        assert stage.adds_up and stage.dead == source.dead and stage.in_windows == 6
