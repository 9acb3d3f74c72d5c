"""Landing: every file that comes is read, whenever it was modified."""

import os
from pathlib import Path

from tests.drivers.test_gates import pipeline, write_rows
from tests.lake import table
from windrow.drivers.ingest.landing import Landing
from windrow.store.delta.location import Lake


def test_a_file_much_older_than_those_before_it_is_read(spark, tmp_path: Path) -> None:
    made = pipeline(tmp_path)
    write_rows(tmp_path, "new.json", [{"v": 1}])
    landing = Landing(spark, made.sources[0], Lake.of(made.lake))
    landing.run()
    write_rows(tmp_path, "old.json", [{"v": 2}])
    os.utime(tmp_path / "data" / "old.json", (1_000_000_000, 1_000_000_000))
    landing.run()
    assert sorted(row["v"] for row in table(spark, tmp_path, "raw", "rows").collect()) == [1, 2]
