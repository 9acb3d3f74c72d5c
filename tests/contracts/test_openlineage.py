"""Events of lineage against OpenLineage's own client, whose classes are generated from the schemas of the events.

Whatever an event says is put into these classes, which refuse what the schemas do not have, and written again by the
client: nothing may be lost, added or called otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import windrow
from tests.spec.pages import ROOT
from tests.view.test_lineage_events import JOB, NOW, OUT
from windrow.drivers.inspect.lineage.jobs import jobs_of
from windrow.view.lineage.events import Run, RunState, Values, job_event, run_event

pytest.importorskip("openlineage.client")

Made = Callable[..., Any]


def classes() -> Mapping[str, Made]:
    """What makes each facet of its fields."""
    from openlineage.client.facet_v2 import (
        column_lineage_dataset,
        documentation_job,
        error_message_run,
        job_type_job,
        nominal_time_run,
        output_statistics_output_dataset,
        schema_dataset,
    )

    def field_of(found: Values) -> Any:
        made = [column_lineage_dataset.Transformation(**one) for one in found["transformations"]]
        return column_lineage_dataset.InputField(**{**found, "transformations": made})

    def column_lineage(fields: Values, dataset: list[Values], **more: Any) -> Any:
        made = {
            name: column_lineage_dataset.Fields(inputFields=[field_of(one) for one in found["inputFields"]])
            for name, found in fields.items()
        }
        return column_lineage_dataset.ColumnLineageDatasetFacet(
            fields=made, dataset=[field_of(one) for one in dataset], **more
        )

    def schema(fields: list[Values], **more: Any) -> Any:
        made = [schema_dataset.SchemaDatasetFacetFields(**one) for one in fields]
        return schema_dataset.SchemaDatasetFacet(fields=made, **more)

    return {
        "columnLineage": column_lineage, "schema": schema, "jobType": job_type_job.JobTypeJobFacet,
        "documentation": documentation_job.DocumentationJobFacet,
        "errorMessage": error_message_run.ErrorMessageRunFacet,
        "nominalTime": nominal_time_run.NominalTimeRunFacet,
        "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    }  # fmt: skip


def facets(found: Values) -> dict[str, Any]:
    made = classes()
    return {
        name: made[name](producer=facet["_producer"], **{k: v for k, v in facet.items() if not k.startswith("_")})
        for name, facet in found.items()
    }


def rebuilt(event: Values) -> Values:
    """The event as the client writes it."""
    from openlineage.client import event_v2
    from openlineage.client.serde import Serde

    job = event_v2.Job(**{**event["job"], "facets": facets(event["job"]["facets"])})
    inputs = [event_v2.InputDataset(**{**one, "facets": facets(one["facets"])}) for one in event["inputs"]]
    outputs = [
        event_v2.OutputDataset(
            **{**one, "facets": facets(one["facets"]), "outputFacets": facets(one.get("outputFacets", {}))}
        )
        for one in event["outputs"]
    ]
    common = {"eventTime": event["eventTime"], "producer": event["producer"], "job": job}
    if "run" in event:
        run = event_v2.Run(runId=event["run"]["runId"], facets=facets(event["run"]["facets"]))
        state = event_v2.RunState(event["eventType"])
        return Serde.to_dict(event_v2.RunEvent(eventType=state, run=run, inputs=inputs, outputs=outputs, **common))
    return Serde.to_dict(event_v2.JobEvent(inputs=inputs, outputs=outputs, **common))


def plain(value: Any) -> Any:
    """Without what is empty, and with the schema of a facet by its name, as its version is the client's own."""
    if isinstance(value, dict):
        made = {k: v.rpartition("/")[2] if k == "_schemaURL" else plain(v) for k, v in value.items()}
        return {k: v for k, v in made.items() if v not in ({}, [])}
    return [plain(one) for one in value] if isinstance(value, list) else value


def is_accepted(event: Values) -> None:
    assert plain(rebuilt(event)) == plain(event)


@pytest.mark.parametrize("name", ["flights", "aircraft", "traffic"])
def test_jobs(name: str) -> None:
    for job in jobs_of(windrow.load(f"conf/pipelines/{name}.yaml", project=ROOT)):
        is_accepted(job_event(job, "ns", NOW))


@pytest.mark.parametrize("state", RunState)
def test_runs(state: RunState) -> None:
    is_accepted(run_event(JOB, Run("monday", state, NOW), "/lake", "ns"))
    full = Run("monday", state, NOW + 1, "the gate stops", (NOW, NOW + 1), {OUT: 42})
    is_accepted(run_event(JOB, full, "/lake", "ns"))


def test_what_the_schema_does_not_have_is_refused() -> None:
    event = job_event(JOB, "ns", NOW)
    event["job"]["facets"]["jobType"]["colour"] = "red"
    with pytest.raises(TypeError, match="colour"):
        rebuilt(event)
    with pytest.raises(ValueError, match="UUID"):
        told = run_event(JOB, Run("monday", RunState.START, NOW), "/lake", "ns")
        rebuilt({**told, "run": {"runId": "monday", "facets": {}}})
