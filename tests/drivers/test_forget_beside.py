"""A person is forgotten by commands while the stream of another process goes on: no byte is left, others stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.drivers.shops import HER, OTHERS, WHERE, files_with, pipeline, write
from tests.drivers.test_forget import never_there, results
from tests.lake import iso
from windrow.drivers.inspect.status.status import status
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline

pytestmark = pytest.mark.long

STAGES = ("customers", "shops", "minutes")
WITH_HER = 3
"""Files with rows of hers; those behind have none."""
SINCE = datetime.fromisoformat(iso(WITH_HER * 60))
"""From this time on no row is hers."""


@contextmanager
def streaming(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`windrow run` in a process of its own, to its end by a signal."""
    with (file.parent / "stream.log").open("ab") as log:
        words = [sys.executable, "-m", "windrow", "run", str(file), "--every", "1s"]
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, cwd=file.parent)
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def told(file: Path, *words: str) -> str:
    """What a command prints that ends well."""
    command = [sys.executable, "-m", "windrow", words[0], str(file), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=file.parent, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def until(holds: Callable[[], bool], stream: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert stream.poll() is None, "the stream has ended"
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.5)


def has_read(made: Pipeline, files: int) -> bool:
    """Whether the stream has landed so many files, and all stages have read them and show it."""
    sources, stages = status(made)
    is_done = all(not one.batches_behind and one.tick and one.projected_to == one.tick for one in stages)
    return is_done and sources[0].files == files and all(not one.ticks_to_refresh for one in stages)


def rows_of_others(root: Path) -> Mapping[str, set[str]]:
    """By table the rows in which she has no part: those of other customers, and of windows that begin later.

    Of `current` those that are last: the others change as more rows come.
    """
    found = {"visits.raw": _rows(root / "lake" / "visits" / "raw", lambda row: row["customer"] in OTHERS)}
    for stage in (*STAGES, "behind"):
        for name in ("current", "panes", "dead_letters"):
            found[f"{stage}.{name}"] = _rows(root / "lake" / stage / name, _is_of_others)
    return found


def _rows(path: Path, has: Callable[[Mapping[str, Any]], bool]) -> set[str]:
    rows = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    return {repr(sorted(row.items())) for row in rows if has(row)}


def _is_of_others(row: Mapping[str, Any]) -> bool:
    start = row["window_start"]
    return row.get("is_last", True) and (row.get("customer") in OTHERS or (start is not None and start >= SINCE))


def test_by_commands_beside_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    made = pipeline(tmp_path, *STAGES, behind=True)
    file = tmp_path / "shops.yaml"
    file.write_text(yaml.safe_dump(made.to_mapping()))
    write(tmp_path, range(WITH_HER))
    write(tmp_path, range(WITH_HER, WITH_HER + 2), with_her=False)
    with streaming(file) as stream:
        until(lambda: has_read(made, WITH_HER + 2), stream)
        before = rows_of_others(tmp_path)
        assert all(before[f"{stage}.{name}"] for stage in STAGES for name in ("current", "panes"))
        assert files_with(tmp_path, HER)
        write(tmp_path, range(WITH_HER + 2, WITH_HER + 4), with_her=False)  # so that the stream ticks meanwhile
        assert "rows forgotten, landing step" in told(file, "forget", "--where", WHERE)
        until(lambda: has_read(made, WITH_HER + 4), stream)
        told(file, "maintain", "--keep", "0h")
        left = files_with(tmp_path, HER)
        assert stream.poll() is None
        after = rows_of_others(tmp_path)
        assert {name: rows - after[name] for name, rows in before.items() if rows - after[name]} == {}
        assert left == [], "what a process has written and not committed is deleted by itself"
        write(tmp_path, range(WITH_HER + 4, WITH_HER + 5), with_her=False)
        until(lambda: has_read(made, WITH_HER + 5), stream)
    assert stream.returncode == 0
    run(made, spark, once=True, drain=True)
    assert all(one.equal for one in reconcile(made, spark))
    calm = never_there(spark, tmp_path / "never", WITH_HER + 5, *STAGES, behind=True)
    assert results(spark, tmp_path, made) == calm
    assert files_with(tmp_path, HER) == []
