"""A history that is written without the stream is one that the stream, Delta and deltalake go on with."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from bench.scale import opening
from bench.scale.history import Span
from bench.scale.landing_log import COMPACTED_EVERY
from bench.scale.opening import check_current, check_status
from bench.scale.shifting import Shift, repeated
from bench.scale.simulation import PACE, REAL_TICKS, TABLES, Stepping, begin, lengthened, pipeline
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.spec.times import DAY, MINUTE
from windrow.store.delta.file_system import _LocalFolder

SHIFT = Shift(3, 5 * MINUTE)


def test_numbers_and_times_are_later_and_nothing_else() -> None:
    notes = {"tick": 7, "offsets": {"events": 7}, "now": 1_704_067_200_000_000, "least": -(2**63), "streams": True}
    said = {
        "counts": {"read": 20},
        "partitions": [[None, 1_704_067_200_000_000, None]],
        "at": "2024-01-01T00:00:00.000Z",
    }
    assert SHIFT.plain({**notes, **said}) == {
        "tick": 10, "offsets": {"events": 10}, "now": 1_704_068_100_000_000, "least": -(2**63), "streams": True,
        "counts": {"read": 20}, "partitions": [[None, 1_704_068_100_000_000, None]], "at": "2024-01-01T00:15:00.000Z",
    }  # fmt: skip


def test_rows_are_repeated_later() -> None:
    times = pa.timestamp("us", "UTC")
    rows = pa.table(
        {
            "tick": pa.array([4, 4]),
            "at": pa.array([0, None], times),
            "k": pa.array([1, 2]),
            "_state": pa.array([{"n": 5, "due": 1_704_067_200_000_000}, None]),
        }
    )
    found = repeated(rows, [0, 2], MINUTE).to_pylist()
    assert [row["tick"] for row in found] == [4, 4, 6, 6] and [row["k"] for row in found] == [1, 2, 1, 2]
    assert found[2]["at"].timestamp() == 120 and found[3]["at"] is None and found[3]["_state"] is None
    assert found[2]["_state"] == {"n": 5, "due": 1_704_067_320_000_000}


@pytest.mark.parametrize("until", [1_000, 100_000])
def test_maintenance_runs_once_a_day_and_half_a_day_before_the_end(until: int) -> None:
    span = Span(until, 5 * MINUTE, 5 * MINUTE)
    runs = [tick for tick in range(until - 2000, until + 1) if span.is_maintained(tick)]
    assert runs[-1] == until - 144 and {after - before for before, after in pairwise(runs)} == {288}
    assert span.maintained(until) == until - 144 and span.maintained(until - 145) == until - 144 - 288


def test_commits_of_thirty_days_are_kept() -> None:
    assert Span(1_000, PACE, PACE).kept_from(6) == 7 == Span(1_000, PACE, PACE).known_from(6)
    long = Span(100_000, PACE, PACE)
    assert 8640 <= 100_000 - long.kept_from(6) < 8640 + 288
    assert long.is_maintained(long.kept_from(6) - 1) and long.known_from(6) < long.kept_from(6) - 9 * 288 + 1
    assert Span(100_000, PACE, 26_000_000).kept_from(6) < 1000


@pytest.fixture(scope="module")
def begun(spark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("begun")
    begin(spark, root)
    check_status(root, REAL_TICKS)
    check_current(root)
    return root


@pytest.mark.long
@pytest.mark.parametrize("span", [Span(1_000, PACE, PACE), Span(3_500, PACE, PACE, kept=DAY)], ids=["whole", "cleaned"])
def test_the_stream_goes_on_behind_a_history(
    spark, begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, span: Span
) -> None:
    """Status adds up before and after, and `current` is what a batch over all rows of `raw` gives.

    Of the longer one most commits are gone, as those of a year are.
    """
    monkeypatch.setattr(opening, "TIMES", 1)
    until = span.until
    measured = opening.point(spark, begun, tmp_path / "long", span)
    assert measured.ticks == until and measured.commits >= len(TABLES) * until
    assert (measured.entries < measured.commits) is (span.kept == DAY), "each commit has a file, and one of checksums"
    raw, *_, ticks = [spark.read.format("delta").load(str(tmp_path / "long" / "lake" / name)) for name in TABLES]
    assert ticks.count() == raw.select("_step").distinct().count() == until + COMPACTED_EVERY


@pytest.mark.long
def test_no_more_commits_are_read_behind_a_longer_history(
    spark, begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that the driver opens are counted, which says more than seconds on a busy machine."""
    lines, read = _LocalFolder.lines, []

    def counted(folder: _LocalFolder, name: str) -> Generator[str]:
        read.append(name)
        return lines(folder, name)

    monkeypatch.setattr(_LocalFolder, "lines", counted)
    opened = []
    for until in (300, 1_000):
        root = tmp_path / str(until)
        lengthened(begun, root, Span(until, PACE, PACE))
        (stage,) = PipelineWork.open(pipeline(root), spark).stages
        stage.projections.prepare()
        assert stage.projections.projected_to >= until - 288, "maintenance has said so a day before, at most"
        read.clear()
        Stepping.open(spark, root).step()
        opened.append(len(read))
    assert opened[0] > len(TABLES) and abs(opened[1] - opened[0]) <= 2, opened
