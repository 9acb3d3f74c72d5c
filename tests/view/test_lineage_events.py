"""Events of lineage: of the jobs of a pipeline file, and their form."""

import json
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest

import windrow
from tests.cli.command import windrow as command
from tests.spec.pages import ROOT
from windrow.drivers.inspect.lineage.jobs import jobs_of
from windrow.spec.sources.datasets import Dataset
from windrow.spec.times import parse_time
from windrow.view.lineage.events import InputField, Job, Run, RunState, Table, Values, job_event, run_event, run_id

NOW = parse_time("2024-01-01T12:00:00Z")
IN, OUT = Dataset("file", "/lake/rows/raw"), Dataset("s3://bucket", "lake/sums/current")
JOB = Job(
    "p.sums", "words", [IN, IN],
    [Table(OUT, {"n": None, "tick": "bigint"}, {"n": [InputField(IN, "v", True, "AGGREGATION", "`v` + 1")]},
           [InputField(IN, "w", False, "FILTER")])],
)  # fmt: skip


def facets_of(event: Values) -> list[tuple[str, Values]]:
    """Every facet of an event, with its name."""
    of = [event["job"]["facets"], event.get("run", {}).get("facets", {})]
    of += [one.get(name, {}) for one in (*event["inputs"], *event["outputs"]) for name in ("facets", "outputFacets")]
    return [item for facets in of for item in facets.items()]


def test_an_event_of_a_job() -> None:
    event = job_event(JOB, "ns", NOW)
    assert event["schemaURL"].endswith("#/$defs/JobEvent") and "run" not in event and "eventType" not in event
    assert datetime.fromisoformat(event["eventTime"]) == datetime.fromisoformat("2024-01-01T12:00:00Z")
    assert event["job"]["namespace"] == "ns" and event["job"]["name"] == "p.sums"
    assert event["inputs"] == [{"namespace": "file", "name": "/lake/rows/raw", "facets": {}}], "each once"
    (output,) = event["outputs"]
    assert output["facets"]["schema"]["fields"] == [{"name": "n"}, {"name": "tick", "type": "bigint"}]
    lineage = output["facets"]["columnLineage"]
    (direct,) = lineage["fields"]["n"]["inputFields"]
    how = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "`v` + 1", "masking": False}
    assert direct == {"namespace": "file", "name": "/lake/rows/raw", "field": "v", "transformations": [how]}
    assert lineage["dataset"][0]["transformations"][0]["type"] == "INDIRECT"
    for name, facet in facets_of(event):
        assert facet["_producer"] == event["producer"] == "urn:windrow"
        assert name.lower() in facet["_schemaURL"].lower()
        assert facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/")


def test_the_events_of_a_run_have_one_id_and_say_how_it_ended() -> None:
    start = run_event(JOB, Run("monday", RunState.START, NOW), "/lake", "ns")
    run = Run("monday", RunState.FAIL, NOW + 1, "the gate stops", (NOW, NOW + 1), {OUT: 42})
    end = run_event(JOB, run, "/lake", "ns")
    assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
    assert UUID(start["run"]["runId"]) == UUID(end["run"]["runId"]) == run_id("/lake", "p.sums", "monday")
    assert (
        run_id("/other", "p.sums", "monday") != run_id("/lake", "p.sums", "monday") != run_id("/lake", "p.s", "monday")
    )
    assert end["run"]["facets"]["errorMessage"]["message"] == "the gate stops"
    assert end["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 42
    assert "outputFacets" not in start["outputs"][0] and start["run"]["facets"] == {}


@pytest.mark.parametrize("name", ["flights", "aircraft", "traffic"])
def test_every_column_of_a_result_is_a_column_of_its_table_and_made_of_one_that_is_read(name: str) -> None:
    pipeline = windrow.load(f"conf/pipelines/{name}.yaml", project=ROOT)
    jobs = {job.name: job for job in jobs_of(pipeline)}
    assert set(jobs) >= {f"{name}.{stage.name}" for stage in pipeline.stages}
    written = {table.dataset: table for job in jobs.values() for table in job.writes}
    for job in jobs.values():
        for table in job.writes:
            assert set(table.made_of) <= set(table.columns)
            for one in [*table.influenced_by, *(one for found in table.made_of.values() for one in found)]:
                assert one.of in job.reads
                if one.of in written:
                    assert one.column in written[one.of].columns, (job.name, one)


def test_the_command_prints_an_event_a_line_and_needs_no_lake(tmp_path: Path) -> None:
    file = ROOT / "conf" / "pipelines" / "flights.yaml"
    arguments = ("lineage", file, "--project", ROOT, "--set", f"lake={tmp_path}/none", "--namespace", "ours")
    done = command(*arguments)
    assert (done.code, done.err) == (0, "")
    events = [json.loads(line) for line in done.out.splitlines()]
    names = ["departures", "departures_hourly", "departures_rolling"]
    assert [event["job"]["name"] for event in events] == [f"flights.{name}" for name in names]
    assert {event["job"]["namespace"] for event in events} == {"ours"}
    current = next(one for one in events[1]["outputs"] if one["name"].endswith("/current"))
    (delay,) = current["facets"]["columnLineage"]["fields"]["mean_delay"]["inputFields"]
    assert delay["field"] == "dep_delay" and delay["name"] == f"{tmp_path}/none/departures/raw"
    pipeline = windrow.load(file, {"lake": f"{tmp_path}/none"}, ROOT)
    assert [event["job"]["name"] for event in windrow.lineage(pipeline)] == [event["job"]["name"] for event in events]
    out = command(*arguments, "--output", tmp_path / "events.jsonl")
    assert out.code == 0 and len((tmp_path / "events.jsonl").read_text().splitlines()) == 3
