"""When a window fires, in words."""

from __future__ import annotations

import pytest

from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.triggers.all import TRIGGER


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("repeat: {at_watermark: {percentile: 90}}",
         ["when the watermark of 90 percent of the partitions reaches the end of the window,"
          " and then at every tick that brings new elements"]),
        ("repeat: {after_bytes: 5000}", ["again and again: when 5,000 bytes of new elements have come"]),
        ("repeat: {after_match: {where: \"kind = 'end'\"}}",
         ["again and again: when a new element has come with kind = 'end'"]),
        ("repeat: {after_match: {where: \"v > 1\", count: 2}}",
         ["again and again: when 2 new elements have come with v > 1"]),
        ("repeat: {when_result: \"total % 2 = 1\"}",
         ["again and again: at a tick that finds new elements and total % 2 = 1"]),
        ("{repeat: {after_count: 2, then: clear}, then: accumulate}",
         ["again and again: when 2 new elements have come (then: clear) (then: accumulate)"]),
    ],
)  # fmt: skip
def test_words(text: str, lines: list[str]) -> None:
    assert TRIGGER.read(load_yaml(text)).plan_lines() == lines
