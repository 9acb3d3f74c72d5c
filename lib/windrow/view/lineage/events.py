"""Events of OpenLineage 2-0-2, as plain values that JSON holds. https://openlineage.io/docs/spec/object-model"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from windrow.spec.sources.datasets import Dataset
from windrow.spec.times import format_time

PRODUCER = "urn:windrow"
"""Who says so, in every event and facet."""
_CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs"
_FACETS = {
    "schema": "1-2-0/SchemaDatasetFacet", "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "jobType": "2-0-4/JobTypeJobFacet", "documentation": "1-1-0/DocumentationJobFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet", "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "nominalTime": "1-0-1/NominalTimeRunFacet",
}  # fmt: skip
"""The version of each facet, and what it is called in its schema."""

Values = dict[str, Any]


class RunState(StrEnum):
    """What an event says of its run."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"


@dataclass(frozen=True)
class InputField:
    """A column that another is made of, or that all are influenced by.

    `is_direct` and `kind` are the type and the subtype of its transformation, `words` what is done.
    """

    of: Dataset
    column: str
    is_direct: bool
    kind: str
    words: str = ""


@dataclass(frozen=True)
class Table:
    """A data set that is written: its columns with their types, None where only Spark knows them, and their lineage."""

    dataset: Dataset
    columns: Mapping[str, str | None] = field(default_factory=dict)
    made_of: Mapping[str, Sequence[InputField]] = field(default_factory=dict)
    influenced_by: Sequence[InputField] = ()


@dataclass(frozen=True)
class Job:
    """What a pipeline does for one source or stage, again and again."""

    name: str
    words: str
    reads: Sequence[Dataset]
    writes: Sequence[Table]
    is_stream: bool = True


@dataclass(frozen=True)
class Run:
    """One run of a job, as of `at` (microseconds). `windows` are those that it was asked for, [start, end).

    `rows` are those that it has written, by the name of the data set.
    """

    name: str
    state: RunState
    at: int
    message: str = ""
    windows: tuple[int, int] | None = None
    rows: Mapping[Dataset, int] = field(default_factory=dict)


def run_id(*names: str) -> UUID:
    """The same for the same run of the same lake, so that it can be told again."""
    return uuid5(NAMESPACE_URL, "\n".join((PRODUCER, *names)))


def job_event(job: Job, namespace: str, at: int) -> Values:
    """What a job does, without a run: the lineage of a specification."""
    return {**_event("JobEvent", at), **_io(job, {}), "job": _job(job, namespace)}


def run_event(job: Job, run: Run, lake: str, namespace: str) -> Values:
    """A change of the state of a run."""
    facets: Values = {}
    if run.message:
        facets["errorMessage"] = _facet("errorMessage", message=run.message, programmingLanguage="Python")
    if run.windows is not None:
        start, end = map(format_time, run.windows)
        facets["nominalTime"] = _facet("nominalTime", nominalStartTime=start, nominalEndTime=end)
    told = {"runId": str(run_id(lake, job.name, run.name)), "facets": facets}
    return {
        "eventType": str(run.state), **_event("RunEvent", run.at), **_io(job, run.rows), "run": told,
        "job": _job(job, namespace),
    }  # fmt: skip


def _event(kind: str, at: int) -> Values:
    return {"eventTime": format_time(at), "producer": PRODUCER, "schemaURL": f"{_CORE}/{kind}"}


def _facet(name: str, **values: Any) -> Values:
    version = _FACETS[name]
    url = f"https://openlineage.io/spec/facets/{version}.json#/$defs/{version.partition('/')[2]}"
    return {"_producer": PRODUCER, "_schemaURL": url, **values}


def _job(job: Job, namespace: str) -> Values:
    kind = "STREAMING" if job.is_stream else "BATCH"
    facets = {
        "jobType": _facet("jobType", processingType=kind, integration="WINDROW", jobType="JOB"),
        "documentation": _facet("documentation", description=job.words),
    }
    return {"namespace": namespace, "name": job.name, "facets": facets}


def _io(job: Job, rows: Mapping[Dataset, int]) -> Values:
    inputs = [{"namespace": one.namespace, "name": one.name, "facets": {}} for one in dict.fromkeys(job.reads)]
    return {"inputs": inputs, "outputs": [_output(table, rows.get(table.dataset)) for table in job.writes]}


def _output(table: Table, rows: int | None) -> Values:
    columns = [{"name": name} if kind is None else {"name": name, "type": kind} for name, kind in table.columns.items()]
    facets = {"schema": _facet("schema", fields=columns)} if columns else {}
    if table.made_of or table.influenced_by:
        made = {name: {"inputFields": list(map(_field, found))} for name, found in table.made_of.items()}
        facets["columnLineage"] = _facet("columnLineage", fields=made, dataset=list(map(_field, table.influenced_by)))
    told = {"namespace": table.dataset.namespace, "name": table.dataset.name, "facets": facets}
    if rows is not None:
        told["outputFacets"] = {"outputStatistics": _facet("outputStatistics", rowCount=rows)}
    return told


def _field(one: InputField) -> Values:
    how = {
        "type": "DIRECT" if one.is_direct else "INDIRECT", "subtype": one.kind,
        **({"description": one.words} if one.words else {}), "masking": False,
    }  # fmt: skip
    return {"namespace": one.of.namespace, "name": one.of.name, "field": one.column, "transformations": [how]}


def in_lines(events: Iterable[Values]) -> str:
    """An event a line, as JSON."""
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
