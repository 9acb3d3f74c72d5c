"""The queries in windrow: pipelines from the files to `current`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import windrow
from bench.nexmark.events import COLUMNS, DELAY, PARTS, Data
from bench.nexmark.queries import QUERIES, Query

_TEN: dict[str, Any] = {"window": {"fixed": {"size": "10s"}}}
_COUNT: dict[str, Any] = {"aggregates": {"num": {"count": "*"}}}

STAGES: dict[str, list[dict[str, Any]]] = {
    "q5": [
        {"name": "counts", "keys": ["auction"], "window": {"sliding": {"size": "10s", "period": "2s"}}, **_COUNT},
        {
            "name": "q5", "from": "counts", "window": {"inherited": {}},
            "aggregates": {"hottest": {"max": "named_struct('num', num, 'auction', auction)"}},
            "derive": {"num": "hottest.num", "auction": "hottest.auction"},
        },
    ],
    "q7": [{
        "name": "q7", **_TEN,
        "aggregates": {"highest": {
            "max": "named_struct('price', price, 'auction', auction, 'bidder', bidder, 'ms', ms)",
        }},
        "derive": {name: f"highest.{name}" for name in ("price", "auction", "bidder", "ms")},
    }],
    "q8": [{
        "name": "q8", **_TEN, "having": "persons > 0 and auctions > 0",
        "inputs": {
            "p": {"from": "persons", "keys": ["id"],
                  "aggregates": {"persons": {"count": "*"}, "name": {"max": "name"}}},
            "a": {"from": "auctions", "keys": [{"id": "seller"}], "aggregates": {"auctions": {"count": "*"}}},
        },
    }],
    "q11": [{"name": "q11", "keys": ["bidder"], "window": {"sessions": {"gap": "10s", "merge_touching": True}},
             **_COUNT}],
    "q12": [{"name": "q12", "keys": ["bidder"], **_TEN, **_COUNT}],
}  # fmt: skip
"""The last stage has the name of the query. All fire once, at the watermark."""


def pipeline(query: Query, data: Data, lake: Path) -> windrow.Pipeline:
    """The pipeline of a query over the files."""
    sources = [
        {
            "name": kind, "schema": dict(COLUMNS[kind]), "event_time": {"column": "ms", "format": "unix_ms"},
            "files": {
                "path": data.files(kind), "format": "csv", "header": False, "copy": False,
                "max_files_per_batch": query.batches * PARTS,
            },
            "watermark": {"bounded_delay": f"{DELAY}s"},
        }
        for kind in query.reads
    ]  # fmt: skip
    stages = STAGES[query.name]
    made = {"pipeline": query.name, "lake": str(lake), "sources": sources, "stages": stages}
    return windrow.Pipeline.from_mapping(made)


def run(spark: SparkSession, query: Query, data: Data, folder: Path) -> str:
    """From the files to the table `current`, whose path it returns; the end of the files ends all windows."""
    made = pipeline(query, data, folder / "lake")
    windrow.run(made, spark, drain=True)
    return str(made.table(query.name).path("current"))


assert STAGES.keys() == QUERIES.keys()
