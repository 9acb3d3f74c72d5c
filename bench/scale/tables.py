"""One table of a lake whose log is made longer: its newest commit, its files, and what these say some ticks later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.scale.shifting import Shift, repeated
from windrow.spec.times import DAY
from windrow.store.journal.totals import TOTALS

Action = dict[str, Any]
LOG = "_delta_log"


def commit_name(version: int, kind: str = "json") -> str:
    """The name of the file of a version in a log."""
    return f"{version:020d}.{kind}"


@dataclass(frozen=True)
class Growing:
    """A table whose newest commit is that of a tick (or of a landing step), so that it can be made once more, later.

    `last` is this tick. The commit adds files. That of `current` also removes the one with the windows that it changes:
    those which the next tick changes too are in one file then, and those which no tick changes any more in another.
    """

    folder: Path
    last: int
    pace: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """What a tick counts, for the notes that carry sums."""

    @cached_property
    def version(self) -> int:
        """Of the newest commit."""
        return max(int(file.stem) for file in (self.folder / LOG).glob("*.json") if file.stem.isdigit())

    @cached_property
    def actions(self) -> list[Action]:
        """Those of the newest commit."""
        text = (self.folder / LOG / commit_name(self.version)).read_text()
        return [json.loads(line) for line in text.splitlines()]

    @cached_property
    def app_id(self) -> str:
        """The name under which its commits carry their steps."""
        return next(action["txn"]["appId"] for action in self.actions if "txn" in action)

    @cached_property
    def head(self) -> list[Action]:
        """Protocol and metadata of the table."""
        lines = (self.folder / LOG / commit_name(0)).read_text().splitlines()
        return [action for action in map(json.loads, lines) if "metaData" in action or "protocol" in action]

    @cached_property
    def added(self) -> list[Action]:
        return [action["add"] for action in self.actions if "add" in action]

    @cached_property
    def passing(self) -> frozenset[str]:
        """The paths of the files that the next tick takes out, if ticks do: they have the newest window."""
        if not any("remove" in action for action in self.actions):
            return frozenset()
        starts = {file["path"]: json.loads(file["stats"])["maxValues"]["window_start"] for file in self.added}
        found = frozenset(path for path, start in starts.items() if start == max(starts.values()))
        assert len(found) < len(starts), f"{self.folder}: windows that are final have no file of their own"
        return found

    @cached_property
    def rows(self) -> list[pa.Table]:
        """Those of each file of the newest commit."""
        return [self._read(add) for add in self.added]

    def _read(self, add: Action) -> pa.Table:
        """The rows of a file, without columns that the table does not have: panes are files of the journal too."""
        rows = pq.read_table(self.folder / add["path"], partitioning=None)
        return rows.select([name for name in self._columns if name in rows.column_names])

    @cached_property
    def _columns(self) -> list[str]:
        metadata = next(action["metaData"] for action in self.head if "metaData" in action)
        return [one["name"] for one in json.loads(metadata["schemaString"])["fields"]]

    @cached_property
    def live(self) -> list[Action]:
        """The files that the table has before anything is added, as the commits have added them."""
        found: dict[str, Action] = {}
        for version in range(self.version + 1):
            for line in (self.folder / LOG / commit_name(version)).read_text().splitlines():
                action = json.loads(line)
                if "add" in action:
                    found[action["add"]["path"]] = action["add"]
                elif "remove" in action:
                    del found[action["remove"]["path"]]
        return list(found.values())

    def files(self, tick: int) -> list[Action]:
        """What the commit of a later tick adds."""
        later = Shift(tick - self.last, self.pace)
        return [self._file(add, later, f"part-{tick:07}-{index}.snappy.parquet") for index, add in
                enumerate(self.added)]  # fmt: skip

    def _file(self, add: Action, later: Shift, name: str) -> Action:
        partition = {column: self._bucket(add, value, later) for column, value in add["partitionValues"].items()}
        return {
            **add,
            "path": f"{folder_of(partition)}{name}",
            "partitionValues": partition,
            "stats": json.dumps(_stats(json.loads(add["stats"]), later)),
        }

    def _bucket(self, add: Action, value: str | None, later: Shift) -> str | None:
        """The partition of a later window: buckets are days, as windows are no longer than 22 minutes."""
        if value is None or not value.lstrip("-").isdigit():
            return value
        start = json.loads(add["stats"])["maxValues"]["window_start"]
        then = pc.cast(pa.scalar(later.plain(start)), pa.timestamp("us", "UTC")).value
        now = pc.cast(pa.scalar(start), pa.timestamp("us", "UTC")).value
        assert int(value) == now // DAY, f"{self.folder}: {value} is no day"
        return str(then // DAY)

    def commit(self, tick: int, version: int, at: int, changes: Sequence[Action]) -> list[Action]:
        """The actions of the commit of a later tick, made at a time (in ms)."""
        later = Shift(tick - self.last, self.pace)
        found: list[Action] = []
        for action in self.actions:
            if "commitInfo" in action:
                info = dict(action["commitInfo"])
                notes = self._notes(json.loads(info["userMetadata"]), later)
                info |= {"timestamp": at, "readVersion": version - 1, "userMetadata": json.dumps(notes)}
                found.append({"commitInfo": info})
            elif "txn" in action:
                stamp = action["txn"]
                found.append({"txn": {**stamp, "version": stamp["version"] + later.ticks, "lastUpdated": at}})
        return [found[0], *changes, *found[1:]]

    def _notes(self, notes: Mapping[str, Any], later: Shift) -> dict[str, Any]:
        shifted: dict[str, Any] = later.plain(notes)
        if TOTALS in notes:
            sums = notes[TOTALS]
            shifted[TOTALS] = {name: one + later.ticks * self.counts[name] for name, one in sums.items()}
        return shifted

    def content(self, index: int, tick: int) -> pa.Table:
        """The rows of a file that a later tick adds."""
        return repeated(self.rows[index], [tick - self.last], self.pace)

    def compacted(self, partition: Mapping[str, str | None], first: int, until: int) -> pa.Table:
        """The rows of a partition, of the ticks first <= tick <= until, in one file, as maintenance leaves them.

        Without those of files that the next tick takes out.
        """
        parts = []
        for index, add in enumerate(self.added):
            if add["path"] in self.passing:
                continue
            kinds = {name for name, value in add["partitionValues"].items() if value == partition.get(name)}
            if all(name in kinds or _is_day(value) for name, value in partition.items()):
                ticks = [tick - self.last for tick in range(max(first, self.last + 1), until + 1)]
                if ticks:
                    parts.append(repeated(self.rows[index], ticks, self.pace))
        if first <= self.last:
            parts += [self._real(partition)]
        return _together(parts)

    def _real(self, partition: Mapping[str, str | None]) -> pa.Table:
        """The rows of a partition as they are without any that is made here."""
        lasting = [add for add in self.live if add["path"] not in self.passing]
        return _together([self._read(add) for add in lasting if add["partitionValues"] == dict(partition)])


def _together(parts: Sequence[pa.Table]) -> pa.Table:
    """The rows of all of them; a column that one does not have is null there."""
    return pa.concat_tables(parts, promote_options="default")


def folder_of(partition: Mapping[str, str | None]) -> str:
    """The folder of a partition, with a slash at its end."""
    texts = (f"{name}={'__HIVE_DEFAULT_PARTITION__' if value is None else value}/" for name, value in partition.items())
    return "".join(texts)


def stats_of(rows: pa.Table, like: Mapping[str, Any]) -> str:
    """What Delta would count of these rows, in the columns in which it has counted those of another file."""
    found: dict[str, Any] = {"numRecords": rows.num_rows}
    for name, function in (("minValues", pc.min), ("maxValues", pc.max)):
        columns = [one for one in like.get(name, {}) if not pa.types.is_string(rows.schema.field(one).type)]
        if columns:
            known = {one: function(rows.column(one)) for one in columns}
            found[name] = {one: _said(value) for one, value in known.items() if value.is_valid}
    if "nullCount" in like:
        plain = [one for one, number in like["nullCount"].items() if isinstance(number, int)]
        found["nullCount"] = {one: rows.column(one).null_count for one in plain}
    return json.dumps(found)


def _said(value: pa.Scalar) -> Any:
    if not pa.types.is_timestamp(value.type):
        return value.as_py()
    return value.as_py().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _stats(stats: dict[str, Any], later: Shift) -> dict[str, Any]:
    return {name: later.plain(one) if name in ("minValues", "maxValues") else one for name, one in stats.items()}


def _is_day(value: str | None) -> bool:
    return value is not None and value.lstrip("-").isdigit()
