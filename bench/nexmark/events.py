"""The events of Nexmark as CSV files without a header: persons, auctions and bids, by the rules of its generator.

Of fifty events one is a person, three are auctions and the rest are bids. Event time passes at `RATE`. Events are
written in groups of `GROUP`, each in an order of its own, so an event is at most `GROUP` events behind another one.
The same number of events and batches gives the same files; numbers are hashes of the number of the event.

A batch is `PARTS` files of each kind, which have every other group, with a modification time of their own. Behind the
last batch there is one more event of each kind, an hour later, in a folder of its own: for contestants whose watermark
does not move when the files end.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

RATE = 10_000
"""Events a second of event time."""
GROUP = 100
PARTS = 2
START = 1_704_067_200_000
"""The first event time, in milliseconds since 1970: a whole number of every window."""
DELAY = 4
"""Of the watermark, in seconds, for everybody; Nexmark's own."""

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "persons": {"id": "bigint", "name": "string", "city": "string", "ms": "bigint"},
    "auctions": {"id": "bigint", "seller": "bigint", "category": "bigint", "initial": "bigint", "ms": "bigint"},
    "bids": {"auction": "bigint", "bidder": "bigint", "price": "bigint", "channel": "string", "ms": "bigint"},
}
"""The columns of each kind of event, with their types in Spark; `ms` is the event time."""

_CYCLE, _PERSONS, _AUCTIONS = 50, 1, 3
_FIRST_ID = 1000
_ACTIVE_PEOPLE, _PEOPLE_AHEAD, _OPEN_AUCTIONS, _AUCTIONS_AHEAD = 1000, 10, 100, 10
_HOT = 100
"""Of a hundred persons or auctions one is hot: three bids of four come from a hot bidder, one of two is on a hot
auction, and three auctions of four are of a hot seller."""
_STRIDE = 953
"""How the events of a group are reordered, as in Nexmark's generator."""

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class Data:
    """The files of a number of events, in a folder."""

    folder: Path
    events: int
    batches: int

    def files(self, kind: str) -> str:
        """The files of a kind, as a path that DuckDB and Spark read."""
        return str(self.folder / kind / "*.csv")

    def files_and_end(self, kind: str) -> str:
        """The same and the event behind them."""
        return str(self.folder / f"{{{kind},end-of-{kind}}}" / "*.csv")

    def joined(self, kind: str) -> Path:
        """A folder with the same lines joined into fewer files."""
        return self.folder / "joined" / kind

    def generate(self) -> None:
        """Write all files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        groups = self.events // GROUP
        for batch in range(self.batches):
            first, last = batch * groups // self.batches, (batch + 1) * groups // self.batches
            for part in range(PARTS):
                self._write(np.arange(first + part, last, PARTS), f"{batch:05}-{part}", batch)
        for kind, table in _tables(np.arange(self.events // _CYCLE, self.events // _CYCLE + 1) * _CYCLE, later=True):
            self._write_table(f"end-of-{kind}", table, "end", self.batches)

    def join(self, parts: int) -> None:
        """Join the lines of each kind into so many files; 1 or `PARTS`, so that the order stays."""
        for kind in COLUMNS:
            folder = self.joined(kind)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for file in sorted((self.folder / kind).glob("*.csv")):
                with (folder / f"{int(file.stem[-1]) % parts}.csv").open("ab") as target, file.open("rb") as lines:
                    shutil.copyfileobj(lines, target)

    def _write(self, groups: Numbers, name: str, batch: int) -> None:
        for kind, table in _tables(_reordered(groups)):
            self._write_table(kind, table, name, batch)

    def _write_table(self, folder: str, table: pa.Table, name: str, batch: int) -> None:
        target = self.folder / folder / f"{name}.csv"
        target.parent.mkdir(parents=True, exist_ok=True)
        csv.write_csv(table, target, csv.WriteOptions(include_header=False, quoting_style="none"))
        os.utime(target, (1_700_000_000 + batch, 1_700_000_000 + batch))


def _reordered(groups: Numbers) -> Numbers:
    """The numbers of the events of these groups, in the order in which they are written."""
    inside = np.arange(GROUP) * _STRIDE % GROUP
    return (groups[:, None] * GROUP + inside[None, :]).reshape(-1)


def _tables(numbers: Numbers, later: bool = False) -> Iterator[tuple[str, pa.Table]]:
    """The events with these numbers by kind; `later`: one of each kind, an hour behind."""
    rest = numbers % _CYCLE
    kinds = {"persons": rest < _PERSONS, "auctions": (rest >= _PERSONS) & (rest < _PERSONS + _AUCTIONS)}
    kinds["bids"] = rest >= _PERSONS + _AUCTIONS
    for kind, made in (("persons", _persons), ("auctions", _auctions), ("bids", _bids)):
        of = numbers if later else numbers[kinds[kind]]
        times = START + of * 1000 // RATE + (3_600_000 if later else 0)
        yield kind, pa.table({**made(of), "ms": times})


def _persons(numbers: Numbers) -> dict[str, object]:
    ids = _last_person(numbers) + _FIRST_ID
    names = _words("person ", ids)
    return {"id": ids, "name": names, "city": _words("city ", _below(numbers, 1, np.int64(50)))}


def _auctions(numbers: Numbers) -> dict[str, object]:
    hot = _below(numbers, 2, np.int64(4)) > 0
    seller = np.where(hot, _last_person(numbers) // _HOT * _HOT, _some_person(numbers, 3))
    return {
        "id": _last_auction(numbers) + _FIRST_ID, "seller": seller + _FIRST_ID,
        "category": 10 + _below(numbers, 4, np.int64(5)), "initial": _price(numbers, 5),
    }  # fmt: skip


def _bids(numbers: Numbers) -> dict[str, object]:
    last = _last_auction(numbers)
    oldest = np.maximum(last - _OPEN_AUCTIONS, 0)
    some = oldest + _below(numbers, 6, last - oldest + 1 + _AUCTIONS_AHEAD)
    auction = np.where(_below(numbers, 7, np.int64(2)) > 0, last // _HOT * _HOT, some)
    hot = _below(numbers, 8, np.int64(4)) > 0
    bidder = np.where(hot, _last_person(numbers) // _HOT * _HOT + 1, _some_person(numbers, 9))
    channel = _words("channel ", _below(numbers, 11, np.int64(100)))
    return {
        "auction": auction + _FIRST_ID, "bidder": bidder + _FIRST_ID, "price": _price(numbers, 10), "channel": channel,
    }  # fmt: skip


def _last_person(numbers: Numbers) -> Numbers:
    return numbers // _CYCLE


def _last_auction(numbers: Numbers) -> Numbers:
    """The newest auction when an event happens."""
    cycle, rest = numbers // _CYCLE, numbers % _CYCLE
    before = np.maximum(cycle * _AUCTIONS - 1, 0)
    return np.where(rest < _PERSONS, before, cycle * _AUCTIONS + np.minimum(rest - _PERSONS, _AUCTIONS - 1))


def _some_person(numbers: Numbers, salt: int) -> Numbers:
    """One of those who are active, or of the next ones."""
    people = _last_person(numbers) + 1
    active = np.minimum(people, _ACTIVE_PEOPLE)
    return people - active + _below(numbers, salt, active + _PEOPLE_AHEAD)


def _price(numbers: Numbers, salt: int) -> Numbers:
    """From 100 to 100 million, as many of each order of magnitude."""
    return np.rint(10 ** (_hashed(numbers, salt) / 2.0**64 * 6) * 100).astype(np.int64)


def _below(numbers: Numbers, salt: int, limit: Numbers | np.int64) -> Numbers:
    return (_hashed(numbers, salt) % np.asarray(limit).astype(np.uint64)).astype(np.int64)


def _hashed(numbers: Numbers, salt: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """SplitMix64 of the number of an event."""
    mixed = (numbers.astype(np.uint64) * np.uint64(16) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _words(first: str, numbers: Numbers) -> pa.Array:
    return pc.binary_join_element_wise(first, pa.array(numbers).cast(pa.string()), "")
