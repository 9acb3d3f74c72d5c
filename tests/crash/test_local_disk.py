"""Two drivers commit to one table on a local disk, are killed and go on: no commit is lost, and none is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.two_drivers import Drivers

pytestmark = pytest.mark.crash


@pytest.mark.parametrize(
    ("count", "kills"), [(20, 0), pytest.param(500, 8, marks=pytest.mark.long)], ids=["two", "two that are killed"]
)
def test_two_drivers(tmp_path: Path, count: int, kills: int) -> None:
    drivers = Drivers(str(tmp_path / "lake" / "table"), tmp_path)
    drivers.commit(count, kills)
    drivers.check(count)
