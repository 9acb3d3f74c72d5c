"""For how long rows are kept: what goes together, and what `windrow plan` says of it."""

from typing import Any

import pytest

from tests.drivers.shops import pipeline
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.retention import Retention
from windrow.spec.times import DAY
from windrow.view.plan.pipeline import plan_sections


def test_durations_may_be_in_years() -> None:
    kept = Retention.from_mapping({"raw": "90d", "panes": "2y", "dead_letters": "1y"})
    assert (kept.raw, kept.panes, kept.dead_letters) == (90 * DAY, 730 * DAY, 365 * DAY)
    assert Retention.from_mapping(kept.to_mapping()) == kept == Retention(raw="90d", panes="2y", dead_letters="1y")


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, "must have raw, panes or dead_letters"),
        ({"panes": "2y"}, "panes must not be shorter than raw, which is kept for good"),
        ({"raw": "90d", "panes": "30d"}, 'panes must not be shorter than raw; got "30d"'),
        ({"raw": "90d", "dead_letters": "1d"}, "dead_letters must not be shorter than raw"),
        ({"raw": "0s"}, "raw must be positive"),
        ({"raw": "1y2d"}, "raw must be a duration"),
        ({"current": "1y"}, "current"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(fields: dict[str, Any], rule: str) -> None:
    with pytest.raises(SpecError, match=rule):
        Retention.from_mapping(fields)


def test_it_is_of_a_pipeline_and_the_plan_names_it(tmp_path: Any) -> None:
    made = pipeline(tmp_path)
    assert not any("Retention" in section.title for section in plan_sections(made))
    kept = Pipeline.from_mapping({**made.to_mapping(), "retention": {"raw": "90d", "dead_letters": "1y"}})
    assert Pipeline.from_mapping(kept.to_mapping()) == kept
    (section,) = [section for section in plan_sections(kept) if "Retention" in section.title]
    assert "90d" in str(section.to_mapping()) and "for good" in str(section.to_mapping())
