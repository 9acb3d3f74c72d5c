"""Every trigger and every kind of window has transcripts: of its rule, of its boundary and of a refusal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from windrow.spec.triggers.all import TRIGGERS
from windrow.spec.windows.all import WINDOW_FUNCTIONS

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.yaml"))
CASES = [case for file in FILES for case in yaml.safe_load_all(file.read_text()) if {"stage", "stages"} & set(case)]
NODES = {**TRIGGERS, **WINDOW_FUNCTIONS}
NAMES = sorted(name for name, node in NODES.items() if node.__module__.startswith("windrow."))
WITH_BOUNDARIES = (
    "at_watermark", "at_close", "at_period", "after_delay", "never", "fixed", "sliding", "cumulative", "calendar",
    "sessions", "record",
)  # fmt: skip


def names(tree: Any) -> Iterator[str]:
    """The names in a trigger or window in its YAML form."""
    match tree:
        case str():
            yield tree
        case dict():
            yield from tree
            for body in tree.values():
                yield from names(body)
        case list():
            for item in tree:
                yield from names(item)


def stages(case: dict[str, Any]) -> list[dict[str, Any]]:
    return case["stages"] if "stages" in case else [case["stage"]]


def cases_of(name: str, refused: bool) -> list[dict[str, Any]]:
    return [
        case
        for case in CASES
        if ("rejects" in case) == refused
        and name in {n for stage in stages(case) for part in ("trigger", "window") for n in names(stage.get(part))}
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_and_a_refusal(name: str) -> None:
    assert cases_of(name, refused=False) and cases_of(name, refused=True)


@pytest.mark.parametrize("name", WITH_BOUNDARIES)
def test_a_boundary(name: str) -> None:
    """A microsecond before, equal, and a microsecond after, in one case."""
    cases = [case for case in cases_of(name, refused=False) if case["case"].startswith(f"boundary {name} - ")]
    assert cases
    for case in cases:
        text = yaml.safe_dump(case)
        assert "999999" in text and "000001" in text, case["case"]
