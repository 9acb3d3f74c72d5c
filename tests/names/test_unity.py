"""Names in Unity Catalog: what Delta's client asks for, and what Polars reads by such a name."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml
from pyspark.sql import SparkSession

from tests.lake import pipeline, write_files
from tests.names.served import COMMAND
from tests.unity_catalog import CATALOG, TOKEN, UnityCatalog, asked, unity_catalog
from windrow import run
from windrow.drivers.register.spark import register_names
from windrow.drivers.register.unity import CONNECTOR
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline

pytestmark = pytest.mark.spark
SETTING = f"spark.sql.catalog.{CATALOG}"


@pytest.fixture
def server() -> Iterator[tuple[str, UnityCatalog]]:
    with unity_catalog() as found:
        yield found


def connected(spark: SparkSession, uri: str | None, token: str | None = TOKEN) -> SparkSession:
    """A session that has a catalog of Unity Catalog's, which answers there."""
    session = spark.newSession()
    for name, value in {SETTING: CONNECTOR, f"{SETTING}.uri": uri, f"{SETTING}.token": token}.items():
        if value is not None:
            session.conf.set(name, value)
    return session


@pytest.fixture
def catalog(spark: SparkSession, server: tuple[str, UnityCatalog]) -> SparkSession:
    return connected(spark, server[0])


@pytest.fixture
def made(spark: SparkSession, tmp_path: Path) -> Pipeline:
    write_files(tmp_path / "data", range(2))
    made = pipeline(tmp_path)
    run(made, spark, once=True, drain=True)
    return made


def test_a_table_is_read_by_its_name(catalog: SparkSession, server: tuple[str, UnityCatalog], made: Pipeline) -> None:
    url, known = server
    named = {one.name: one for one in register_names(made, catalog, f"{CATALOG}.flights")}
    assert named[f"{CATALOG}.flights.sums"].why_not is None
    assert named[f"{CATALOG}.flights.sums_asof"].why_not == "the catalog holds no views"
    there = {
        one["full_name"]: one for one in asked(url, f"tables?catalog_name={CATALOG}&schema_name=flights")["tables"]
    }
    assert set(there) == {name for name, one in named.items() if one.why_not is None}
    found = there[f"{CATALOG}.flights.sums"]
    assert (found["table_type"], found["data_source_format"]) == ("EXTERNAL", "DELTA")
    assert found["storage_location"].startswith("file:///")
    columns = {one["name"]: (one["type_text"], one.get("comment")) for one in found["columns"]}
    lake = catalog.read.format("delta").load(f"{made.lake}/sums/current")
    assert columns == {one.name: (one.dataType.simpleString(), one.metadata["comment"]) for one in lake.schema.fields}
    assert [json.loads(one["type_json"]) for one in found["columns"]] == lake.schema.jsonValue()["fields"]
    theirs = pl.Catalog(url, bearer_token=TOKEN, require_https=False)
    by_name = theirs.scan_table(CATALOG, "flights", "sums", credential_provider=None).collect()
    assert by_name.height == lake.count() > 0
    assert sorted(by_name.columns) == sorted(lake.columns)
    known.asked.clear()
    assert register_names(made, catalog, f"{CATALOG}.flights") == [*named.values()]
    assert known.asked == ["POST schemas flights"], "what is there stays"


def test_columns_follow_the_table_and_names_of_others_stay(
    catalog: SparkSession, server: tuple[str, UnityCatalog], made: Pipeline, tmp_path: Path
) -> None:
    url, schema = server[0], f"{CATALOG}.flights"
    register_names(made, catalog, schema)
    catalog.sql(f"ALTER TABLE delta.`{made.lake}/sums/current` ADD COLUMNS (later bigint COMMENT 'added')")
    register_names(made, catalog, schema)
    found = asked(url, f"tables/{schema}.sums")
    last = found["columns"][-1]
    assert (last["name"], last["type_name"], last["comment"]) == ("later", "LONG", "added")
    write_files(tmp_path / "other" / "data", range(1))
    other = pipeline(tmp_path / "other")
    run(other, catalog, once=True, drain=True)
    server[1].asked.clear()
    with pytest.raises(SpecError, match="is the name of a table elsewhere"):
        register_names(other, catalog, schema)
    assert not server[1].asked, "nothing is made before all names are known to be free"


def test_what_cannot_be_is_said(spark: SparkSession, made: Pipeline, server: tuple[str, UnityCatalog]) -> None:
    with pytest.raises(SpecError, match=rf"{SETTING}.uri must say where Unity Catalog answers"):
        register_names(made, connected(spark, None), f"{CATALOG}.typed")
    for uri, token, said in (
        (server[0], "another", "UNAUTHENTICATED"),
        ("http://127.0.0.1:1", TOKEN, "ConnectException"),
    ):
        with pytest.raises(SpecError, match=rf"{SETTING} must be a catalog that answers.*{said}") as error:
            register_names(made, connected(spark, uri, token), f"{CATALOG}.typed")
        assert token not in error.value.in_words
    server[1].catalogs.clear()
    with pytest.raises(SpecError, match=rf"{SETTING} must be a catalog that answers.*NOT_FOUND"):
        register_names(made, connected(spark, server[0]), f"{CATALOG}.typed")


def test_a_server_without_tokens(spark: SparkSession, made: Pipeline, server: tuple[str, UnityCatalog]) -> None:
    server[1].is_open = True
    register_names(made, connected(spark, server[0], None), f"{CATALOG}.flights")
    assert f"{CATALOG}.flights.sums" in server[1].tables


def test_by_the_command(made: Pipeline, server: tuple[str, UnityCatalog], tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(yaml.safe_dump(made.to_mapping()))
    given = {SETTING: CONNECTOR, f"{SETTING}.uri": server[0], f"{SETTING}.token": TOKEN}
    conf = [word for name, value in given.items() for word in ("--conf", f"{name}={value}")]
    words = [*COMMAND, "register", str(file), "--schema", f"{CATALOG}.typed", "--json", *conf]
    done = subprocess.run(words, capture_output=True, text=True, timeout=170, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = {one["name"]: one["why_not"] for one in json.loads(done.stdout)}
    assert names[f"{CATALOG}.typed.sums"] is None and f"{CATALOG}.typed.sums" in server[1].tables
