"""A report for machines: JSON, and JUnit XML for those that show tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as xml

from windrow.spec.quality.judgements import Judgement, Outcome
from windrow.spec.times import format_time
from windrow.view.diff import diff_mapping
from windrow.view.text.characters import in_xml

if TYPE_CHECKING:
    from windrow.view.report import Report


def as_json(report: Report) -> str:
    """Everything that the page says, but for its figures; times in ISO 8601."""
    return json.dumps(_in_json(report_mapping(report)), indent=2, default=str, ensure_ascii=False) + "\n"


def report_mapping(report: Report) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "pipeline": report.pipeline, "run": report.run, "state": str(report.state), "outcome": report.outcome,
        "start": _time(report.start), "end": _time(report.end), "made_at": _time(report.made_at),
        "lasted_us": report.lasted, "link": report.link, "facts": dict(report.facts),
        "next": [asdict(step) for step in report.next], "waiting": list(report.waiting),
        "quarantines": report.quarantines,
        "stages": [{**asdict(stage), "unchanged": stage.unchanged} for stage in report.stages],
        "changed": [diff_mapping(one) for one in report.changed],
        "balances": [{**asdict(one), "adds_up": one.adds_up} for one in report.balances],
        "gates": [{**gate.to_mapping(), "stops": gate.stops} for gate in report.gates],
        "steps": [{**asdict(step), "at": _time(step.at)} for step in report.steps],
        "attempts": [{**asdict(one), "at": _time(one.at)} for one in report.attempts],
        "tables": {
            name: {"path": path, "version": report.versions.get(name)} for name, path in report.tables.items()
        },
    }  # fmt: skip


def as_junit(report: Report) -> str:
    """A suite for each gate, a case for each expectation: what stops is a failure, what warns is skipped."""
    suites = xml.Element("testsuites", name=f"{report.pipeline} {report.run}")
    for gate in report.gates:
        found = [one for one in gate.judgements if one.outcome is not Outcome.PASSED]
        suite = xml.SubElement(
            suites, "testsuite", name=gate.subject, tests=str(len(gate.judgements)),
            failures=str(sum(_tag(one) == "failure" for one in found)),
            errors=str(sum(_tag(one) == "error" for one in found)),
            skipped=str(sum(_tag(one) == "skipped" for one in found)),
        )  # fmt: skip
        for one in gate.judgements:
            case = xml.SubElement(
                suite, "testcase", name=in_xml(one.expectation), classname=f"{report.pipeline}.{gate.subject}"
            )
            if one.outcome is not Outcome.PASSED:
                found_in = xml.SubElement(case, _tag(one), message=in_xml(f"{one.severity}: {one.figure}"))
                found_in.text = in_xml(", ".join(one.examples))
    xml.indent(suites)
    return xml.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _in_json(value: Any) -> Any:
    """The same with texts in place of what is no number in JSON: NaN and the infinities."""
    if isinstance(value, Mapping):
        return {name: _in_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_in_json(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _tag(one: Judgement) -> str:
    if one.outcome is Outcome.ERROR:
        return "error"
    return "failure" if one.stops else "skipped"


def _time(micros: int | None) -> str | None:
    return None if micros is None else format_time(micros)
