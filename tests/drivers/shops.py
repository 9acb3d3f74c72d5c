"""Shops and their customers, one of whom will be forgotten: rows with her, and the same rows without her."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]

from tests.lake import iso
from windrow.spec.pipelines.pipeline import Pipeline

HER = "zq9x7vv"
"""A name that is nowhere by chance."""
WHERE = f"customer = '{HER}'"
OTHERS = ("ann", "bob", "cy")
SECONDS = 60

_EARLY = {"after_watermark": {"early": {"after_count": 2}, "late": {"after_count": 1}}}
_SUMS = {"visits": {"count": "*"}, "spent": {"sum": "v"}, "most": {"max": "v"}, "who": {"collect_set": "customer"}}

STAGES: dict[str, dict[str, Any]] = {
    "customers": {
        "keys": ["customer"], "window": {"fixed": {"size": "30s"}}, "trigger": _EARLY, "accumulation": "retracting",
        "aggregates": {"visits": {"count": "*"}, "spent": {"sum": "v"}},
    },
    "shops": {
        "keys": ["shop"], "window": {"fixed": {"size": "30s"}}, "trigger": _EARLY, "accumulation": "retracting",
        "aggregates": _SUMS,
    },
    "minutes": {
        "keys": ["shop"], "window": {"fixed": {"size": "30s"}}, "allowed_lateness": "0s", "aggregates": _SUMS,
    },
    "overlaps": {
        "keys": ["shop"], "window": {"sliding": {"size": "40s", "period": "20s"}}, "allowed_lateness": "0s",
        "aggregates": _SUMS,
    },
    "hops": {"keys": ["shop"], "window": {"sliding": {"size": "40s", "period": "20s"}}, "aggregates": _SUMS},
    "sessions": {
        "keys": ["shop"], "window": {"sessions": {"gap": "4s", "max_session": "10m"}}, "trigger": _EARLY,
        "accumulation": "retracting", "aggregates": _SUMS,
    },
}  # fmt: skip
"""One for each way in which cells are kept."""

TILLS: dict[str, Any] = {
    "keys": ["shop"], "window": {"fixed": {"size": "30s"}}, "trigger": _EARLY, "accumulation": "retracting",
    "aggregates": {"visits": {"count": "*"}, "spent": {"sum": "v"}},
}  # fmt: skip
"""A stage in whose results no value of a row stands."""

BEHIND: dict[str, Any] = {
    "name": "behind", "from": "shops", "keys": ["shop"], "window": {"fixed": {"size": "60s"}},
    "trigger": _EARLY, "accumulation": "retracting", "allowed_lateness": "20s",
    "aggregates": {"windows": {"count": "*"}, "visits": {"sum": "visits"}, "most": {"max": "most"}},
}  # fmt: skip


def rows(number: int, with_her: bool = True) -> list[dict[str, Any]]:
    """The rows of a file. Hers are in between, so that she moves no watermark; some are late, one has no time.

    Some of hers make one session of two.
    """
    found = []
    for index in range(20):
        at = number * SECONDS + index * 3
        row = {"customer": OTHERS[index % 3], "shop": "east" if index % 4 else "west", "v": index, "at": iso(at)}
        found.append({**row, "arrived": iso(number * SECONDS + SECONDS)})
        if index % 5 == 1 and with_her:
            found.append({**row, "customer": HER, "v": 1000 + index, "arrived": found[-1]["arrived"]})
        if index % 8 == 4 and with_her:
            found.append({**row, "customer": HER, "shop": "east", "v": index, "arrived": found[-1]["arrived"]})
    late = iso(max(0, number * SECONDS - 2 * SECONDS))
    arrived = iso(number * SECONDS + SECONDS)
    found.append({"customer": "bob", "shop": "east", "v": 5, "at": late, "arrived": arrived})
    if with_her:
        found.insert(3, {"customer": HER, "shop": "east", "v": 7, "at": late, "arrived": arrived})
        found.insert(4, {"customer": HER, "shop": "north", "v": 8, "at": "never", "arrived": arrived})
    return found


HERS = sum(row["customer"] == HER for row in rows(0)) + 1
"""So many rows of each file are hers: one of them cannot be read."""


def write(root: Path, numbers: range, with_her: bool = True) -> None:
    """Landing files with these numbers, one batch each."""
    folder = root / "data"
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        path = folder / f"batch-{number:04}.json"
        lines = [json.dumps(row) for row in rows(number, with_her)]
        if with_her:  # a number that is none, so that the row cannot be read
            lines.append(json.dumps({**rows(number)[-1], "customer": HER, "v": "many"}))
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def pipeline(root: Path, *names: str, behind: bool = False, **source: Any) -> Pipeline:
    """The pipeline with these stages, all by default."""
    read = {
        "name": "visits", "files": {"path": str(root / "data"), "max_files_per_batch": 1},
        "schema": "customer string, shop string, v long, at string, arrived string",
        "event_time": {"column": "at", "format": "iso8601"}, "arrival_time": {"column": "arrived", "format": "iso8601"},
        "watermark": {"bounded_delay": "5s"}, **source,
    }  # fmt: skip
    stages = [{"allowed_lateness": "20s", **{**STAGES, "tills": TILLS}[name], "name": name} for name in names or STAGES]
    return Pipeline.from_mapping(
        {
            "pipeline": "shops", "lake": str(root / "lake"), "sources": [read],
            "stages": [*stages, *([BEHIND] if behind else [])],
        }
    )  # fmt: skip


def files_with(root: Path, text: str) -> list[str]:
    """The files of the lake that have a text: as it is, or in a column of Parquet."""
    found = [path for path in sorted((root / "lake").rglob("*")) if path.is_file() and _has(path, text)]
    return [str(path.relative_to(root / "lake")) for path in found]


def _has(path: Path, text: str) -> bool:
    if text.encode() in path.read_bytes():
        return True
    return path.suffix == ".parquet" and any(text in part for part in _texts(path))


def _texts(path: Path) -> Iterator[str]:
    """The rows of a Parquet file as texts, and what its footer says of them."""
    file = pq.ParquetFile(path)
    yield from (str(file.metadata.row_group(index).to_dict()) for index in range(file.num_row_groups))
    for batch in file.iter_batches():
        yield str(batch.to_pylist())
