"""A lake whose logs are as long as those of a stream that has run for a year, made of one that has run for minutes.

The newest tick of a real lake is written again and again, each time a pace later: commits of the log's real shape, with
a checkpoint by `deltalake`. What maintenance and Delta would have removed by the end is never made: the data files that
were compacted, and the commits that are older than Delta keeps them. What is left is real: each file that a reader may
open is there, with rows of its own times, so that the stream goes on behind it.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.scale.delta_log import CHECKPOINT_EVERY, DeltaLog, State
from bench.scale.tables import Action, Growing, folder_of, stats_of
from windrow.spec.times import DAY

KEPT_DAYS_OF_JOURNAL = 8
"""Maintenance drops transitions that are older than seven days, a whole day of window time at once."""


@dataclass(frozen=True)
class Span:
    """How long the history is: ticks up to `until`, whose rows are a `pace` (in microseconds) apart.

    They were committed so far apart too, or nearer: `apart`. Maintenance has run once a day, and Delta keeps commits
    for `kept` microseconds.
    """

    until: int
    pace: int
    apart: int
    kept: int = 30 * DAY

    @property
    def a_day(self) -> int:
        """Ticks of a day."""
        return DAY // self.apart

    def maintained(self, before: int) -> int:
        """The last tick up to that one behind which maintenance runs: the last time is half a day before the end."""
        return before - (before - (self.until - self.a_day // 2)) % self.a_day

    def is_maintained(self, tick: int) -> bool:
        return self.maintained(tick) == tick

    def kept_from(self, last: int) -> int:
        """The first tick, behind the last real one, whose commit Delta still has: one behind a maintenance."""
        return max(last, self.maintained(max(self.until - self.kept // self.apart, 0))) + 1

    def known_from(self, last: int) -> int:
        """The first tick that is looked at to know what is in the table when the first kept commit is made."""
        return max(last, self.maintained(self.kept_from(last) - (KEPT_DAYS_OF_JOURNAL + 1) * self.a_day)) + 1

    def made_at(self, tick: int, now: int) -> int:
        """When the commit of a tick was made, in ms, if the last one was made now."""
        return now - (self.until - tick) * self.apart // 1000


@dataclass
class Live:
    """The files of a table, by their paths: what adds each, which ticks it has, and what is in it if we make it.

    `passing` are those that the next tick takes out.
    """

    added: dict[str, Action] = field(default_factory=dict)
    ticks: dict[str, tuple[int, int]] = field(default_factory=dict)
    content: dict[str, Callable[[], pa.Table]] = field(default_factory=dict)
    gone: dict[str, Action] = field(default_factory=dict)
    passing: set[str] = field(default_factory=set)

    def add(
        self,
        file: Action,
        first: int,
        until: int,
        content: Callable[[], pa.Table] | None = None,
        passes: bool = False,
    ) -> Action:
        self.added[file["path"]] = file
        self.ticks[file["path"]] = (first, until)
        if content is not None:
            self.content[file["path"]] = content
        if passes:
            self.passing.add(file["path"])
        return {"add": file}

    def remove(self, path: str, at: int, changes: bool) -> Action:
        file = self.added.pop(path)
        self.ticks.pop(path)
        self.content.pop(path, None)
        self.passing.discard(path)
        said = {"path": path, "deletionTimestamp": at, "dataChange": changes, "extendedFileMetadata": True}
        self.gone[path] = {**said, "partitionValues": file["partitionValues"], "size": file["size"]}
        return {"remove": self.gone[path]}

    def state(self, since: int) -> tuple[list[Action], list[Action]]:
        """The files, and those that were removed since a time in ms."""
        return list(self.added.values()), [one for one in self.gone.values() if one["deletionTimestamp"] >= since]


@dataclass
class History:
    """The history of one table, written behind its real commits."""

    table: Growing
    span: Span
    now: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    live: Live = field(default_factory=Live)

    def write(self) -> State:
        """Write it, and say what the table is then."""
        table, span = self.table, self.span
        log = DeltaLog(table.folder, table.head, table.app_id)
        assert table.live is not None, "looked at before its commits are gone"
        begin, kept = span.known_from(table.last), span.kept_from(table.last)
        self._begin(begin)
        end = self._version(span.until)
        checkpoint = end // CHECKPOINT_EVERY * CHECKPOINT_EVERY
        log.forget_before(self._version(kept) if kept > table.last + 1 else 0, span.made_at(table.last, self.now))
        behind: list[tuple[int, int, list[Action]]] = []
        for tick, version, actions in self._commits(begin):
            if tick < kept:
                continue
            at = span.made_at(tick, self.now)
            if tick <= self._settled:
                log.put(version, at, actions)
            else:  # its files are still there, and are not written yet: their sizes are not known
                behind.append((version, at, actions))
            if version == checkpoint:
                held = State(version, tick, *self.live.state(self.now - 7 * DAY // 1000))
        self._write_files()
        for version, at, actions in behind:
            log.put(version, at, actions)
        if checkpoint > table.version:
            log.checkpoint(held)
        last = State(end, span.until, *self.live.state(self.now - 7 * DAY // 1000))
        log.checksums(last)
        return last

    @property
    def _settled(self) -> int:
        """The last tick whose files are all gone in the end, or of which there are none."""
        return self.span.maintained(self.span.until) - 1 if self.table.added else self.span.until

    def _version(self, tick: int) -> int:
        """Of the commit of a tick."""
        last = self.table.last
        runs = (self.span.maintained(tick - 1) - self.span.maintained(last)) // self.span.a_day
        return self.table.version + tick - last + (runs if self.table.added else 0)

    def _begin(self, tick: int) -> None:
        """What the table has before the commit of a tick."""
        last, first = self.table.last, tick - 1
        if first == last:
            for file in self.table.live:
                self.live.add(file, 1, last, passes=file["path"] in self.table.passing)
        else:
            for file in self._lasting():
                self._compact(file["partitionValues"], 1, first, file)
            self._add_files(first, lasting=False)

    def _lasting(self) -> list[Action]:
        """A file of each partition that is kept for good."""
        added = [file for file in self.table.added if file["path"] not in self.table.passing]
        files = {folder_of(file["partitionValues"]): file for file in added}
        return [file for file in files.values() if _day(file["partitionValues"]) is None]

    def _commits(self, begin: int) -> Iterator[tuple[int, int, list[Action]]]:
        """Tick, version and actions of each commit from that of a tick on."""
        for tick in range(begin, self.span.until + 1):
            at, version = self.span.made_at(tick, self.now), self._version(tick)
            changes = [self.live.remove(path, at, True) for path in sorted(self.live.passing)]
            changes += self._add_files(tick)
            yield tick, version, self.table.commit(tick, version, at, changes)
            if self.table.added and self.span.is_maintained(tick):
                yield tick, version + 1, [_maintenance(version, at), *self._maintained(tick, at)]

    def _add_files(self, tick: int, lasting: bool = True) -> list[Action]:
        """Those of a tick; without the `lasting` ones only what the next tick takes out."""
        found = []
        for index, (file, like) in enumerate(zip(self.table.files(tick), self.table.added, strict=True)):
            passes = like["path"] in self.table.passing
            if passes or lasting:
                found.append(self.live.add(file, tick, tick, partial(self.table.content, index, tick), passes))
        return found

    def _maintained(self, tick: int, at: int) -> list[Action]:
        """What maintenance does behind a tick: each partition is one file, and old days of the journal are none.

        Files that the next tick takes out are left alone. Really they are put together with the others, and that tick
        takes them apart again.
        """
        parts: dict[str, list[str]] = defaultdict(list)
        for path, file in self.live.added.items():
            if path not in self.live.passing:
                parts[folder_of(file["partitionValues"])].append(path)
        newest = max((_day(file["partitionValues"]) or 0 for file in self.live.added.values()), default=0)
        changes: list[Action] = []
        for paths in parts.values():
            like = self.live.added[paths[0]]
            day, ranges = _day(like["partitionValues"]), [self.live.ticks[path] for path in paths]
            is_spent = day is not None and day < newest - KEPT_DAYS_OF_JOURNAL
            if not is_spent and len(paths) == 1:
                continue
            changes += [self.live.remove(path, at, is_spent) for path in paths]
            if not is_spent:
                first, until = min(first for first, _ in ranges), max(until for _, until in ranges)
                changes.append(self._compact(like["partitionValues"], first, until, like))
        return changes

    def _compact(self, partition: Mapping[str, str | None], first: int, until: int, like: Action) -> Action:
        """One file with the rows of these ticks in a partition; `like` is a file of it, or of its kind."""
        path = f"{folder_of(partition)}part-compacted-{until:07}.snappy.parquet"
        file = {**like, "path": path, "partitionValues": dict(partition)}
        return self.live.add(file, first, until, lambda: self.table.compacted(partition, first, until))

    def _write_files(self) -> None:
        """Write the files that are there in the end, and say in what adds them how large they are."""
        for path, content in self.live.content.items():
            rows, target = content(), self.table.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, target, compression="snappy", coerce_timestamps="us")
            file = self.live.added[path]
            file["size"] = target.stat().st_size
            file["stats"] = stats_of(rows, json.loads(file["stats"]))


def _maintenance(version: int, at: int) -> Action:
    info = {"timestamp": at, "operation": "OPTIMIZE", "operationParameters": {}, "readVersion": version}
    return {"commitInfo": {**info, "isolationLevel": "SnapshotIsolation", "isBlindAppend": False}}


def _day(partition: Mapping[str, Any]) -> int | None:
    """The day of window time of a partition of a journal; None of another one."""
    value = partition.get("_bucket")
    return None if value is None else int(value)
