"""The rows that a gate judges, with what says where each of them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, call, col, null, quoted, struct, when
from windrow.engine.frames import select

PLACE, ORDER, AT = "_windrow_place", "_windrow_order", "_windrow_at"
"""The columns of `with_places`: the file or source partition of a row, what rows are ordered by, and where a row is."""

_NOWHERE: Mapping[str, str] = {
    "file": "string", "partition": "string", "offset": "string", "step": "bigint", "row": "bigint",
    "event_time": "string",
}  # fmt: skip


@dataclass(frozen=True)
class LocatedRows:
    """Rows, the columns that a suite knows, and the columns that say where a row is.

    `order`: what rows are listed by. `at`: the fields of a `BrokenRow` but for its values, as far as a row has them.
    `names`: columns that name a row, and are listed with it: the keys of a result. `partitions` gives the source
    partitions that have had rows so far, also if none of them is here, with their greatest event times in microseconds.
    """

    frame: DataFrame
    columns: Sequence[str]
    order: Column
    at: Mapping[str, Column]
    names: Sequence[str] = ()
    partitions: Callable[[], Mapping[str, int]] = dict

    @classmethod
    def of_source(
        cls, rows: DataFrame, shows_partition: bool = True, partitions: Callable[[], Mapping[str, int]] = dict
    ) -> LocatedRows:
        """Rows of `raw`, with their envelope. The source partition may be a value that nobody is shown."""
        file = envelope.file_of()
        partition = col(envelope.PARTITION) if shows_partition else null("string")
        offset = when(file.is_null(), col(envelope.OFFSET))
        at = {
            "file": file, "partition": partition, "offset": offset, "step": col(envelope.STEP),
            "row": col(envelope.ROW), "event_time": as_timestamp(col(envelope.EVENT_TIME)).cast("string"),
        }  # fmt: skip
        order = struct(step=col(envelope.STEP), row=col(envelope.ROW))
        columns = [name for name in rows.columns if name not in envelope.ENVELOPE]
        return cls(rows, columns, order, at, partitions=partitions if shows_partition else dict)

    @classmethod
    def of_results(cls, rows: DataFrame, keys: Sequence[str]) -> LocatedRows:
        """Results of a stage, with their keys and windows."""
        names = [*keys, "window_start", "window_end"]
        order = call("struct", col("window_start"), *[col(key).cast("string") for key in keys])
        return cls(rows, rows.columns, order, {}, names)

    @property
    def judged(self) -> DataFrame:
        """The rows with the columns that a suite knows."""
        return self.frame.select(*map(quoted, self.columns))

    def with_places(self) -> DataFrame:
        """The same, and three columns that say where a row is. Rows of a log without files are of its partitions."""
        at = {name: self.at.get(name, null(kind)) for name, kind in _NOWHERE.items()}
        place = struct(file=at["file"], partition=when(at["file"].is_null(), at["partition"]))
        found = {**{name: col(name) for name in self.columns}, PLACE: place, ORDER: self.order, AT: struct(**at)}
        return select(self.frame, found)
