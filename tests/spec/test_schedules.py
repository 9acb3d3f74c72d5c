"""The schedule of a pipeline: what goes together, and which DAGs it names."""

from typing import Any

import pytest

from windrow.spec.errors import SpecError
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.times import HOUR

RIGHT: list[dict[str, Any]] = [
    {},
    {"spark": {"connection": "spark_prod"}},
    {"cron": "0 3 * * *", "start": "2024-01-01"},
    {"restate": "late", "maintain": "0 5 * * *", "stream": "long"},
    {"stream": "*/10 * * * *", "restate": "0 6 * * *", "tags": ["a", "b"], "owner": "me", "deadline": "6h"},
]


@pytest.mark.parametrize("fields", RIGHT, ids=str)
def test_a_schedule_is_what_it_was_written_from(fields: dict[str, Any]) -> None:
    assert Schedule.from_mapping(Schedule.from_mapping(fields).to_mapping()) == Schedule.from_mapping(fields)


WRONG = [
    ({"cron": "0 3 * * *"}, "start must be there, as cron is"),
    ({"start": "2024-01-01"}, "cron must be there, as start is"),
    ({"end": "2024-01-01"}, "end does not go without cron and start"),
    ({"cron": "@daily", "start": "2024-01-01"}, "cron must be a cron expression of five fields"),
    ({"restate": "early"}, "restate must be late, or a cron expression of five fields"),
    ({"stream": "once"}, "stream must be long, or a cron expression of five fields"),
    ({"maintain": "late"}, "maintain must be a cron expression of five fields"),
    ({"execution_timeout": "0s"}, "execution_timeout must be positive"),
    ({"tags": "a"}, "tags must be a list"),
]


@pytest.mark.parametrize(("fields", "rule"), WRONG, ids=str)
def test_what_does_not_go_together_is_refused(fields: dict[str, Any], rule: str) -> None:
    with pytest.raises(SpecError, match=rule):
        Schedule.from_mapping(fields)


def test_the_cron_expressions_are_those_that_are_not_words() -> None:
    made = Schedule(cron="0 3 * * *", start="2024-01-01", restate="late", maintain="0 5 * * *", stream="long")
    assert made.crons == {"cron": "0 3 * * *", "maintain": "0 5 * * *"}
    assert made.execution_timeout == 2 * HOUR
