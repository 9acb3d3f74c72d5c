"""When a pipeline's backfill is scheduled, and how its Spark work is run."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import COUNT, DURATION, POSITIVE_DURATION, TEXT, TIME, ZONE, choice, nested, simple
from windrow.spec.fields.reading import Kind, Spec
from windrow.spec.fields.typed import Converted, DurationLike, TimeLike, converted, plain, specification
from windrow.spec.pipelines.submissions import Submission
from windrow.spec.times import HOUR, MINUTE


def _cron(value: Any) -> str:
    text = TEXT.accept(value)
    if len(text.split()) != 5:
        raise SpecError("", "must be a cron expression of five fields", text, '"0 3 * * *": every day at three')
    return text


class OnTimeout(StrEnum):
    """What a run does with windows that have not expired when it has waited long enough."""

    EARLY = "early"
    WHOLE = "whole"
    FAIL = "fail"


OnTimeoutLike = OnTimeout | Literal["early", "whole", "fail"]
ON_TIMEOUT: Kind[OnTimeout, OnTimeoutLike] = choice(OnTimeout)


@specification
class Schedule(Spec):
    """The schedule of a pipeline's DAG.

    Each run backfills the windows that start in its data interval: from one moment of `cron` to the next, in `zone`,
    the first one not before `start`, the last one not after `end`. `spark` says how its Spark work is submitted; a task
    that failed for another reason than a gate is tried again `retries` times.

    A run publishes when all windows of its interval have expired. Until then it looks again every `poke_interval`, and
    lands where no stream does, for `wait` at most; then it shows the windows early (`on_timeout: early`), publishes
    them as last (`whole`), or fails.
    """

    YAML_HINTS = {"schedule": "cron", "start_date": "start", "timezone": "zone", "connection": "spark.connection"}

    cron: str = plain(simple(_cron))
    start: Converted[int, TimeLike] = converted(TIME)
    end: Converted[int | None, TimeLike | None] = converted(TIME, default=None)
    zone: str = plain(ZONE, default="UTC")
    spark: Submission = plain(nested(Submission), default=Submission())
    retries: int = plain(COUNT, default=2)
    wait: Converted[int, DurationLike] = converted(DURATION, default=36 * HOUR)
    on_timeout: Converted[OnTimeout, OnTimeoutLike] = converted(ON_TIMEOUT, default=OnTimeout.FAIL)
    poke_interval: Converted[int, DurationLike] = converted(POSITIVE_DURATION, default=5 * MINUTE)
