"""When a pipeline's backfill is scheduled, and how its Spark work is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import COUNT, DURATION, NAME, POSITIVE_DURATION, TEXT, TIME, ZONE, choice, simple
from windrow.spec.fields.reading import Spec, of
from windrow.spec.times import HOUR, MINUTE


def _cron(value: Any) -> str:
    text: str = TEXT.accept(value)
    if len(text.split()) != 5:
        raise SpecError("", "must be a cron expression of five fields", text, '"0 3 * * *": every day at three')
    return text


class OnTimeout(StrEnum):
    """What a run does with windows that have not expired when it has waited long enough."""

    EARLY = "early"
    WHOLE = "whole"
    FAIL = "fail"


@dataclass(frozen=True)
class Schedule(Spec):
    """The schedule of a pipeline's DAG.

    Each run backfills the windows that start in its data interval: from one moment of `cron` to the next, in `zone`,
    the first one not before `start`, the last one not after `end`. Its Spark work goes to Airflow's `connection`; a
    task that failed for another reason than a gate is tried again `retries` times.

    A run publishes when all windows of its interval have expired. Until then it lands and looks again every
    `poke_interval`, for `wait` at most; then it shows the windows early (`on_timeout: early`), publishes them as last
    (`whole`), or fails.
    """

    YAML_HINTS = {"schedule": "cron", "start_date": "start", "timezone": "zone", "conn_id": "connection"}

    cron: str = field(metadata=of(simple(_cron)))
    start: int = field(metadata=of(TIME))
    end: int | None = field(default=None, metadata=of(TIME))
    zone: str = field(default="UTC", metadata=of(ZONE))
    connection: str = field(default="spark_default", metadata=of(NAME))
    retries: int = field(default=2, metadata=of(COUNT))
    wait: int = field(default=36 * HOUR, metadata=of(DURATION))
    on_timeout: OnTimeout = field(default=OnTimeout.FAIL, metadata=of(choice(OnTimeout)))
    poke_interval: int = field(default=5 * MINUTE, metadata=of(POSITIVE_DURATION))
