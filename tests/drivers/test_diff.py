"""Two generations of a stage compared: what stands in the journal of one is what the table of the other shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake import pipeline, table, write_files
from windrow.drivers.inspect.diff.diff import FIRST, _diff, diff
from windrow.drivers.spark.session import working_session
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.spark import SparkTables


def test_two_generations_with_either_reader(spark, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(2))
    made = pipeline(tmp_path)
    run(made, spark, once=True, drain=True)
    (same,) = diff(made, generation=1)
    assert same.is_equal and same.windows == table(spark, tmp_path, "current").count() > 0
    changed = pipeline(tmp_path, where="v > 0", aggregates={"num": {"count": "*"}, "most": {"max": "v"}}, derive={})
    run(changed, spark, once=True, drain=True, from_start=True)
    (found,) = diff(changed, generation=1)
    assert found.there.endswith("generation 1") and found.here.endswith("generation 2")
    assert found.different > 0 and found.only_there > 0 and found.only_here == 0
    assert [column.name for column in found.columns] == ["num"] and len(found.differing) <= FIRST
    assert all(row.there is not None and row.there["num"] > (row.here or {"num": 0})["num"] for row in found.differing)
    (stage,) = changed.stages
    readers = [ArrowTables(), SparkTables(working_session(spark))]
    by_reader = [_diff(tables, changed.lake, stage, None, 1, (0, 2**52)) for tables in readers]
    assert by_reader[0] == by_reader[1] and by_reader[0].number_differing == found.number_differing
    with pytest.raises(SpecError, match=r"^--generation names a generation of which there is no journal of sums"):
        diff(changed, generation=7)
