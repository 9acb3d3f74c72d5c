"""The stages of Nexmark on the reference model, over some of the events, give what DuckDB does.

q7 and the second stage of q5 are left out, because the model knows no structs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from bench.nexmark.by_windrow import STAGES
from bench.nexmark.check import Oracle
from bench.nexmark.events import DELAY, START, Data
from bench.nexmark.queries import QUERIES, tables
from tests.model.chain import Chain
from windrow.spec.transcripts.cases import read_transcripts

SOME = {"bids": "(auction * 31 + bidder + price) % 150 = 0", "auctions": "seller % 9 = 0", "persons": "id % 9 = 0"}
COLUMNS = ("id", "name", "seller", "auction", "bidder", "price")


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Some of the events of forty seconds, in the order of event time."""
    folder = tmp_path_factory.mktemp("nexmark")
    every, found = Data(folder / "every", 400_000, 2), Data(folder / "some", 0, 1)
    every.generate()
    with duckdb.connect() as database:
        database.execute(tables(every))
        for kind, where in SOME.items():
            (found.folder / kind).mkdir(parents=True)
            rows = f"SELECT * FROM {kind} WHERE {where} ORDER BY ms"
            database.execute(f"COPY ({rows}) TO '{found.folder / kind / '0.csv'}' (HEADER false)")
    return found


@pytest.mark.parametrize("name", ["q8", "q11", "q12"])
def test_the_stage_gives_what_duckdb_does(some: Data, tmp_path: Path, name: str) -> None:
    oracle = Oracle(some)
    verdict = oracle.check(QUERIES[name], pa.Table.from_pylist(panes(STAGES[name][0], some, tmp_path)))
    assert verdict.is_equal and verdict.rows > 300, verdict


def test_the_hottest_are_those_with_the_greatest_count(some: Data, tmp_path: Path) -> None:
    counts = panes(STAGES["q5"][0], some, tmp_path)
    hottest: dict[int, dict[str, Any]] = {}
    for row in counts:
        best = hottest.setdefault(row["window_start"], row)
        if (row["num"], row["auction"]) > (best["num"], best["auction"]):
            hottest[row["window_start"]] = row
    verdict = Oracle(some).check(QUERIES["q5"], pa.Table.from_pylist([*hottest.values()]))
    assert verdict.is_equal and verdict.rows > 20, verdict


def panes(stage: dict[str, Any], data: Data, folder: Path) -> list[dict[str, Any]]:
    """What the stage shows in two ticks, the second of which ends all windows."""
    inputs = stage.get("inputs") or {"": {"from": stage.get("from", "bids")}}
    stage = {name: value for name, value in stage.items() if name != "from"}
    if "inputs" in stage:
        stage["inputs"] = {name: {k: v for k, v in one.items() if k != "from"} for name, one in inputs.items()}
    elements = sorted(
        ({"at": (row["ms"] - START) / 1000, **({"input": name} if name else {}), **row_of(row)}
         for name, one in inputs.items() for row in events(data, one["from"])),
        key=lambda element: float(element["at"]),
    )  # fmt: skip
    half = len(elements) // 2
    case = {
        "case": "some events", "why": "they are those of the bench", "stage": stage,
        "elements": {name: "string" if name == "name" else "long" for name in COLUMNS},
        "steps": [{"add": elements[:half], "watermark": int(elements[half]["at"]) - DELAY},
                  {"add": elements[half:], "watermark": "max", "expect": []}],
    }  # fmt: skip
    (folder / "case.yaml").write_text(json.dumps(case))
    (read,) = read_transcripts(folder / "case.yaml")
    chain = Chain(read.stages, read.schema, read.watermark_from, read.size, read.weight)
    ticks = [tick for step in read.steps for tick in chain.tick(step.add, step.now, step.watermark).values()]
    assert not any(tick.dead for tick in ticks) and all(tick.panes for tick in ticks)
    rows = [pane.row() for tick in ticks for pane in tick.panes]
    times = [{"window_start": START + row["window"][0] // 1000, "window_end": START + row["window"][1] // 1000}
             for row in rows]  # fmt: skip
    return [{**row, **time} for row, time in zip(rows, times, strict=True)]


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name in COLUMNS}


def events(data: Data, kind: str) -> list[dict[str, Any]]:
    with duckdb.connect() as database:
        database.execute(tables(data))
        rows: list[dict[str, Any]] = database.table(kind).to_arrow_table().to_pylist()
    return rows
