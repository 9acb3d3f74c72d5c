"""Trials: other specifications of a stage and of its source's watermark, as the fields that differ.

The grammar of a field is that of the pipeline file (docs/pipeline-files.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import yaml

from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import located
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.simulation.refusals import TRIED
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.refusals import refuse
from windrow.spec.stages.stage import Stage
from windrow.spec.times import format_duration

OF_STAGE = ("window", "trigger", "accumulation", "retract", "allowed_lateness", "on_time", "closing", "allow_closing")
"""The fields of a stage that a trial may replace: those that say when something is shown, not what."""
FIELDS = ("name", *OF_STAGE, "watermark")
AS_IT_IS = "as it is"
"""The name of the trial that replaces nothing."""
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Trial:
    """A specification that is tried: the stage, and the watermark of its source."""

    name: str
    stage: Stage
    watermark: Watermark

    def says_the_same(self, other: Trial) -> bool:
        """Whether nothing but the name differs."""
        return (self.stage, self.watermark) == (other.stage, other.watermark)


def fields_of(trial: Trial, before: Trial) -> str:
    """The fields by which a trial differs from another one, as `--try` takes them."""
    fields: dict[str, Any] = {}
    if trial.watermark != before.watermark:
        rule = trial.watermark.to_mapping()
        fields["watermark"] = {name: value for name, value in rule.items() if name != "max_future"}
    own, others = trial.stage.to_mapping(), before.stage.to_mapping()
    fields |= {name: own[name] for name in OF_STAGE if name in own and own[name] != others.get(name)}
    return yaml.safe_dump(fields, default_flow_style=True, sort_keys=False, width=1000).strip()


def trials_of(stage: Stage, source: Source, tried: Sequence[str | Mapping[str, Any]]) -> tuple[Trial, ...]:
    """The stage as it is, and a trial for each mapping of fields that differ, or its YAML: `{allowed_lateness: 2h}`.

    Errors: SpecError, with `--try` and the number of the mapping, for one that is wrong or cannot be simulated.
    """
    as_it_is = Trial(AS_IT_IS, stage, source.watermark)
    located(f"stages.{stage.name}", _checked, as_it_is)
    found = [as_it_is]
    for number, given in enumerate(tried, 1):
        found.append(_named(located(f"--try {number}:", partial(_trial, as_it_is), given), found))
    return tuple(found)


def _trial(as_it_is: Trial, given: str | Mapping[str, Any]) -> Trial:
    fields = load_yaml(given) if isinstance(given, str) else given
    if not isinstance(fields, Mapping):
        raise SpecError("", "must be a mapping of fields", fields, "for instance '{watermark: {bounded_delay: 30m}}'")
    for name in fields:
        if name not in FIELDS:
            raise SpecError(str(name), "cannot be tried", None, f"the fields are {', '.join(FIELDS)}")
    own = {name: value for name, value in fields.items() if name in OF_STAGE}
    stage = Stage.from_mapping({**_without(as_it_is.stage, own), **own})
    watermark = as_it_is.watermark
    if "watermark" in fields:
        watermark = located("watermark", lambda given: _watermark(watermark, given), fields["watermark"])
    return _checked(Trial(str(fields.get("name") or _name(fields)), stage, watermark))


def _without(stage: Stage, own: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the stage; `retract` and `accumulation` say one thing together."""
    mapping = stage.to_mapping()
    if "accumulation" in own or "retract" in own:
        mapping = {name: value for name, value in mapping.items() if name not in ("accumulation", "retract")}
    return mapping


def _watermark(before: Watermark, fields: Any) -> Watermark:
    """The rule that is tried; what a trial does not say of idle partitions and of the future stays as it is."""
    if isinstance(fields, Mapping) and "max_future" in fields:
        raise SpecError("max_future", "cannot be tried: it was judged when the rows landed", None, "leave it out")
    found = Watermark.from_mapping(fields)
    idle = before.idle_timeout if found.idle_timeout is None else found.idle_timeout
    return replace(found, idle_timeout=idle, max_future=before.max_future)


def _name(fields: Mapping[str, Any]) -> str:
    """A short name: the delay, where only that differs, else the fields as they were written."""
    if list(fields) == ["watermark"] and isinstance(fields["watermark"], Mapping):
        rule = fields["watermark"]
        if list(rule) == ["bounded_delay"]:
            return f"delay {format_duration(Watermark.from_mapping(rule).bounded_delay or 0)}"
    written = yaml.safe_dump(dict(fields), default_flow_style=True, sort_keys=False, width=1000).strip()
    written = written.removeprefix("{").removesuffix("}") or AS_IT_IS
    return written if len(written) <= _LONGEST_NAME else f"{written[: _LONGEST_NAME - 4]} ..."


def _named(trial: Trial, others: Iterable[Trial]) -> Trial:
    """The trial under a name that no other one has."""
    taken, name, number = {other.name for other in others}, trial.name, 2
    while name in taken:
        name, number = f"{trial.name} ({number})", number + 1
    return replace(trial, name=name)


def _checked(trial: Trial) -> Trial:
    refuse(TRIED, trial.stage)
    return trial
