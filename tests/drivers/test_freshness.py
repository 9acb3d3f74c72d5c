"""How old the results of a stage are: what `windrow status --check` says of them, and its exit code."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake

from tests.cli.command import windrow
from windrow.drivers.inspect.freshness import freshness_of
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.freshness import Freshness, FreshnessLevel
from windrow.spec.times import DAY, HOUR, MINUTE, parse_time
from windrow.view.freshness import freshness_text

END = "2024-01-01T05:00:00Z"


def pipeline(root: Path, **stage: Any) -> Pipeline:
    source = {
        "name": "rows", "files": {"path": str(root / "data")}, "schema": "at timestamp, k string",
        "event_time": {"column": "at"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    fields = {"name": "sums", "window": {"fixed": {"size": "1h"}}, "aggregates": {"num": {"count": "*"}}, **stage}
    return Pipeline.from_mapping({"pipeline": "p", "lake": str(root / "lake"), "sources": [source], "stages": [fields]})


def write_current(root: Path, *panes: tuple[str, str | None]) -> None:
    """The table `current` with panes of these timings and ends of windows."""
    rows = [{"timing": timing, "window_end": end and datetime.fromisoformat(end)} for timing, end in panes]
    schema = pa.schema([("timing", pa.string()), ("window_end", pa.timestamp("us", tz="UTC"))])
    write_deltalake(str(root / "lake" / "sums" / "current"), pa.Table.from_pylist(rows, schema))


def test_the_newest_window_counts_that_is_complete(tmp_path: Path) -> None:
    made = pipeline(tmp_path, freshness={"warn": "2h", "error": "6h"})
    (none,) = freshness_of(made)
    assert (none.level, none.age) == (FreshnessLevel.ERROR, None)
    assert freshness_text(none) == "error: shows no complete window yet (a warning after 2h, an error after 6h)"
    early, late = ("early", "2024-01-01T09:00:00+00:00"), ("late", "2024-01-01T04:00:00+00:00")
    write_current(tmp_path, early, late, ("on_time", "2024-01-01T05:00:00+00:00"), ("on_time", None))
    levels = {}
    for minutes in (-10, 0, 120, 121, 360, 361):
        (found,) = freshness_of(made, now=parse_time(END) + minutes * MINUTE)
        levels[minutes] = str(found.level)
    assert levels == {-10: "fresh", 0: "fresh", 120: "fresh", 121: "warn", 360: "warn", 361: "error"}
    (found,) = freshness_of(made, now=parse_time(END) + DAY + HOUR)
    assert freshness_text(found) == (
        "error: complete up to 2024-01-01 05:00, 1d 1h ago (a warning after 2h, an error after 6h)"
    )


@pytest.mark.parametrize(("allowed", "code", "word"), [
    ({"warn": "1h", "error": "1000d"}, 0, "warn"), ({"error": "1h"}, 1, "error"), ({"warn": "1000d"}, 0, "fresh"),
])  # fmt: skip
def test_an_error_is_an_exit_code_and_a_warning_are_words(
    tmp_path: Path, allowed: dict[str, str], code: int, word: str
) -> None:
    now = datetime.now(UTC)
    write_current(tmp_path, ("on_time", datetime.fromtimestamp(now.timestamp() - 2 * DAY / 1e6, UTC).isoformat()))
    file = tmp_path / "p.yaml"
    file.write_text(pipeline(tmp_path, freshness=allowed).to_yaml())
    checked = windrow("status", file, "--check")
    assert checked.code == code, checked.err
    assert checked.out.startswith(f"sums: {word}: complete up to ") and ", 2d " in checked.out
    as_json = windrow("status", file, "--check", "--json")
    (found,) = as_json.json
    assert as_json.code == code and found["level"] == word and 2 * 86400 <= found["age_seconds"] < 2 * 86400 + 600
    assert {name: found[name] for name in allowed} == allowed


def test_a_pipeline_without_one_says_so(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(yaml.safe_dump(pipeline(tmp_path).to_mapping()))
    checked = windrow("status", file, "--check")
    assert (checked.code, checked.out.strip()) == (0, "no stage has a freshness: `freshness: {warn: 2h, error: 6h}`")


def test_what_a_freshness_must_not_say() -> None:
    with pytest.raises(SpecError, match="must have warn, error or both"):
        Freshness()
    with pytest.raises(SpecError, match="error must be longer than warn"):
        Freshness(warn="2h", error="2h")
    with pytest.raises(SpecError, match="warn must be positive"):
        Freshness(warn="0s")
