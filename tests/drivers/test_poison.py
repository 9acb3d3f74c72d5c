"""One row in a hundred is poison: the stream goes on, and every row is somewhere."""

import json
from pathlib import Path

from tests.lake import iso, pipeline, table
from windrow.drivers.inspect.status.status import status
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run

ROWS = 2_000
HUGE = "x" * 10_000_000


def test_no_row_can_stop_the_stream(spark, tmp_path: Path) -> None:
    def row(number: int, **fields: object) -> str:
        return json.dumps({"k": "a", "v": 1, "d": 1, "at": iso(number), "arrived": iso(ROWS), **fields})

    lines = [row(number, k="ab"[number % 2]) for number in range(ROWS - 20)]
    lines += ['{"k": "a", "v": '] * 4 + [row(7, v="many")] * 3 + [row(8, d=0)] * 4
    lines += [row(9, at="300000-01-01T00:00:00Z")] * 4 + [row(10, k=None)] * 4 + [row(11, k=HUGE)]
    assert len(lines) == ROWS
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "batch.json").write_text("\n".join(lines))
    poisoned = pipeline(tmp_path, select={}, where="10 / d > 1")
    run(poisoned, spark, once=True, drain=True)
    (source,), (stage,) = status(poisoned, spark)
    assert source.rows == ROWS and source.dead == {"unreadable": 7, "bad_timestamp": 4}
    assert stage.dead == {"unreadable": 7, "bad_timestamp": 4, "bad_expression": 4}
    assert stage.adds_up and stage.in_windows == stage.aggregated == ROWS - 15
    current = table(spark, tmp_path, "current")
    assert current.where("k is null").collect()[0].num == 4
    assert current.where("length(k) = 10000000").count() == 1
    assert reconcile(poisoned, spark)[0].equal
