"""When the DAGs of a pipeline are scheduled, and how their Spark work is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import (
    COUNT,
    DURATION,
    POSITIVE_DURATION,
    TEXT,
    TIME,
    ZONE,
    choice,
    list_of,
    nested,
    simple,
)
from windrow.spec.fields.reading import Kind, Spec
from windrow.spec.fields.typed import Converted, DurationLike, TimeLike, converted, plain, specification
from windrow.spec.pipelines.submissions import Submission
from windrow.spec.times import HOUR, MINUTE


def _cron(value: Any) -> str:
    text = TEXT.accept(value)
    if len(text.split()) != 5:
        raise SpecError("", "must be a cron expression of five fields", text, '"0 3 * * *": every day at three')
    return text


def _cron_or(word: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = TEXT.accept(value)
        if text == word or len(text.split()) == 5:
            return text
        raise SpecError("", f"must be {word}, or a cron expression of five fields", text)

    return read


CRON = simple(_cron, forms.TEXT_FORM)
LATE, LONG = "late", "long"
"""What `restate` and `stream` are in place of a cron expression."""
TAGS = list_of(TEXT)


class OnTimeout(StrEnum):
    """What a run does with windows that have not expired when it has waited long enough."""

    EARLY = "early"
    WHOLE = "whole"
    FAIL = "fail"


OnTimeoutLike = OnTimeout | Literal["early", "whole", "fail"]
ON_TIMEOUT: Kind[OnTimeout, OnTimeoutLike] = choice(OnTimeout)


@specification
class Schedule(Spec):
    """The schedule of a pipeline's DAGs.

    Each run of the backfill is over the windows that start in its data interval: from one moment of `cron` to the next,
    in `zone`, the first one not before `start`, the last one not after `end`. Without `cron` it is run by hand. Its
    Spark work is submitted as `spark` says; a task that failed for another reason than a gate is tried again `retries`
    times, and fails when it has taken `execution_timeout`.

    A run publishes when all windows of its interval have expired. Until then it looks again every `poke_interval`, and
    lands where no stream does, for `wait` at most; then it shows the windows early (`on_timeout: early`), publishes
    them as last (`whole`), or fails. Who is told of missed deadlines hears of a run that has not ended `deadline` after
    it was queued.

    The other DAGs are there where they have a schedule: `restate` when there are new late rows (`late`) or by a
    cron expression, `maintain` by one, `stream` as one run that goes on (`long`) or, by a cron expression, as runs over
    what is there.
    """

    YAML_HINTS = {"schedule": "cron", "start_date": "start", "timezone": "zone", "connection": "spark.connection"}

    cron: str | None = plain(CRON, default=None)
    start: Converted[int | None, TimeLike | None] = converted(TIME, default=None)
    end: Converted[int | None, TimeLike | None] = converted(TIME, default=None)
    zone: str = plain(ZONE, default="UTC")
    spark: Submission = plain(nested(Submission), default=Submission())
    retries: int = plain(COUNT, default=2)
    wait: Converted[int, DurationLike] = converted(DURATION, default=36 * HOUR)
    on_timeout: Converted[OnTimeout, OnTimeoutLike] = converted(ON_TIMEOUT, default=OnTimeout.FAIL)
    poke_interval: Converted[int, DurationLike] = converted(POSITIVE_DURATION, default=5 * MINUTE)
    execution_timeout: Converted[int, DurationLike] = converted(POSITIVE_DURATION, default=2 * HOUR)
    deadline: Converted[int | None, DurationLike | None] = converted(POSITIVE_DURATION, default=None)
    owner: str = plain(TEXT, default="windrow")
    tags: Converted[tuple[str, ...], Iterable[str]] = converted(TAGS, default=())
    restate: str | None = plain(simple(_cron_or(LATE), forms.TEXT_FORM), default=None)
    maintain: str | None = plain(CRON, default=None)
    stream: str | None = plain(simple(_cron_or(LONG), forms.TEXT_FORM), default=None)

    def validate(self) -> None:
        given = {"cron": self.cron, "start": self.start}
        missing = [name for name, value in given.items() if value is None]
        if len(missing) == 1:
            other = "cron" if missing == ["start"] else "start"
            raise SpecError(missing[0], f"must be there, as {other} is", None, 'cron: "0 3 * * *", start: 2024-01-01')
        if self.end is not None and self.cron is None:
            raise SpecError("end", "does not go without cron and start")

    @property
    def crons(self) -> dict[str, str]:
        """The cron expressions, by their fields."""
        texts = {"cron": self.cron, "restate": self.restate, "maintain": self.maintain, "stream": self.stream}
        return {name: text for name, text in texts.items() if text is not None and text not in (LATE, LONG)}
