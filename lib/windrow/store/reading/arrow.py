"""Tables read by `deltalake` and Arrow, without a JVM."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from windrow.spec.errors import NotReadable
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.file_system import FileState, state_of
from windrow.store.delta.location import LOG, Location
from windrow.store.delta.log.commits import is_of_step, repeated_in, said_in
from windrow.store.reading import known
from windrow.store.reading.grouping import grouped, plain
from windrow.store.reading.statistics import FileStatistics
from windrow.store.reading.tables import Condition, Groups, Kind

if TYPE_CHECKING:  # to import Arrow's datasets takes long, and there may be no table
    from pyarrow import fs
    from pyarrow.dataset import Dataset  # type: ignore[import-untyped]

_HOLDS: Mapping[str, Callable[[pc.Expression, Any], pc.Expression]] = {
    "=": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
    "is known": lambda column, _: column.is_valid(),
    "is unknown": lambda column, _: column.is_null(),
    "is no number": lambda column, _: pc.match_substring_regex(column, "[^0-9]"),
}  # fmt: skip

SCHEMES = frozenset({"file", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl"})
"""Of the places that `deltalake` reads: this machine, and object stores."""

_IN_SPARK = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
"""Types that Delta calls otherwise."""


class ArrowTables:
    """The tables that `deltalake` can open: those of local paths and of object stores."""

    @property
    def quote(self) -> str:
        return '"'

    def files(self, paths: Sequence[str]) -> list[FileState | None]:
        elsewhere = [path for path in paths if not path.startswith("file:")]
        if elsewhere:
            raise NotReadable("the source", "has files that are looked at by Spark only", elsewhere[0])
        return [state_of(Path(unquote(urlparse(path).path))) for path in paths]

    def query(self, sql: str, tables: Mapping[str, ArrowTable]) -> pa.Table:
        """By the DataFusion that `deltalake` brings."""
        from deltalake import QueryBuilder

        query = QueryBuilder()
        for name, table in tables.items():
            query.register(name, table.table)
        try:
            return pa.table(query.execute(sql))
        except DeltaError as error:
            raise NotReadable.because("the lake", next(iter(tables.values())).table.table_uri, error) from error

    def open(self, location: Location) -> ArrowTable | None:
        folder = folder_of(location.path)
        uri = location.path if folder is None else folder.as_uri()
        if urlparse(uri).scheme not in SCHEMES:  # of others it says that there is no table
            raise NotReadable("the lake", "is in no place that can be read without Spark", location.path)
        try:
            return ArrowTable(DeltaTable(uri), folder)
        except TableNotFoundError:
            return None
        except (DeltaError, OSError, ValueError) as error:
            raise NotReadable.because("the lake", location.path, error) from error


def folder_of(path: str) -> Path | None:
    """The folder of a path on this machine; None of another one."""
    if path.startswith("file:"):
        return Path(unquote(urlparse(path).path))
    return None if "://" in path else Path(path).absolute()


@dataclass(frozen=True)
class _Stepped:
    """The commit of a step: about when it was made, its notes, and what it added; nothing where there is none.

    Of a commit that is gone, which a later one repeats, only the notes are known.
    """

    at: int | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    added: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class ArrowTable:
    """A table at one version."""

    table: DeltaTable
    folder: Path | None

    def last_step(self, log: str) -> int:
        """From the stamp that each commit of a step carries; the newest of them is part of the table's state."""
        return self.table.transaction_version(log) or 0

    def notes(self) -> Mapping[str, Any]:
        return {name: value for name, value in self._newest.notes.items() if name not in ("step", "writer")}

    def stepped_at(self) -> int | None:
        return self._newest.at

    @cached_property
    def _newest(self) -> _Stepped:
        """The commit of the newest step that this version has.

        `DeltaTable.history` is of no use: it begins with the newest commit that there is now.
        """
        repeated: Mapping[str, Any] = {}
        for version in range(self.version(), -1, -1):  # maintenance makes commits without a step, which repeat it
            actions = self._commit(version)
            said = next((action["commitInfo"] for action in actions if "commitInfo" in action), None)
            if said is None:
                break
            notes = said_in(said.get("userMetadata"))
            if is_of_step(notes):
                added = [action["add"] for action in actions if "add" in action]
                return _Stepped(1000 * int(said["timestamp"]), notes, added)
            repeated = max(repeated, repeated_in(notes), key=lambda one: one.get("step", 0))
        return _Stepped(None, repeated)

    def _commit(self, version: int) -> list[dict[str, Any]]:
        """The actions of a commit; none where the log does not have it any more."""
        try:
            with self._place.open_input_stream(f"{LOG}/{version:020d}.json") as file:
                return [json.loads(line) for line in file.read().decode().splitlines()]
        except FileNotFoundError:
            return []

    def number_of_rows(self) -> int:
        """By what Delta knows of the files, where it knows it of all."""
        numbers = self.files.rows
        return int(self.dataset.count_rows() if numbers.null_count else pc.sum(numbers).as_py() or 0)

    def greatest(self, column: str, *conditions: Condition) -> int | None:
        return known.greatest(self, column, conditions)

    def numbers(self, by: str | None, *conditions: Condition) -> Mapping[str | None, int]:
        return known.numbers(self, by, conditions)

    def version(self) -> int:
        return self.table.version()

    def kinds(self) -> Mapping[str, Kind]:
        return {field.name: _kind(field.type) for field in pa.schema(self.table.schema())}

    def types(self) -> Mapping[str, str]:
        named = {field.name: str(getattr(field.type, "type", "struct")) for field in self.table.schema().fields}
        return {name: _IN_SPARK.get(kind, kind) for name, kind in named.items()}

    def properties(self) -> Mapping[str, str]:
        return dict(self.table.metadata().configuration)

    def oldest_commit(self) -> int:
        from pyarrow import fs

        names = (file.path.rpartition("/")[2] for file in self._place.get_file_info(fs.FileSelector(LOG)))
        return min((int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit()), default=0)

    def gone(self, paths: Sequence[str]) -> set[str]:
        """Those that the table has now need no look, and those of a clone are in another table's folder."""
        from pyarrow import fs

        has = {unquote(path) for path in pa.table(self.table.get_add_actions(flatten=True)).column("path").to_pylist()}
        others = [path for path in paths if unquote(path) not in has and "://" not in path]
        found = self._place.get_file_info([unquote(path) for path in others])
        return {path for path, file in zip(others, found, strict=True) if file.type == fs.FileType.NotFound}

    def rows(self, columns: Sequence[str], *conditions: Condition) -> Iterator[pa.RecordBatch]:
        wanted = {name: plain(pc.field(name), self._schema.field(name).type) for name in columns}
        rows = self._rows_of(self._that_may_meet(conditions))
        yield from rows.scanner(columns=wanted, filter=self._all(conditions)).to_batches()

    def newest_rows(self, columns: Sequence[str], kind: str, step: str) -> Iterator[pa.RecordBatch]:
        from pyarrow import dataset

        if "step" not in self._newest.notes:
            return
        files = self._added(kind)
        if files is None:
            newest = Condition(step, "=", self._newest.notes["step"])
            yield from self.rows(columns, Condition(LogColumn.KIND, "=", kind), newest)
            return
        rows = dataset.dataset(files, format="parquet", filesystem=self._place) if files else None
        if rows is not None:
            wanted = {name: plain(pc.field(name), rows.schema.field(name).type) for name in columns}
            yield from rows.scanner(columns=wanted).to_batches()

    def _added(self, kind: str) -> list[str] | None:
        """The files of a kind that the commit of the newest step has added; None where they are gone."""
        from pyarrow import fs

        added = self._newest.added
        if added is None:
            return None
        files = [unquote(add["path"]) for add in added if add["partitionValues"].get(LogColumn.KIND) == kind]
        found = self._place.get_file_info(files)
        return files if all(file.type == fs.FileType.File for file in found) else None

    def groups(self, wanted: Groups, *conditions: Condition) -> pa.Table:
        return self.groups_of(self._that_may_meet(conditions), wanted, conditions)

    def groups_of(self, files: FileStatistics, wanted: Groups, conditions: Sequence[Condition]) -> pa.Table:
        """The groups of the rows of these files."""
        columns = dict.fromkeys([*wanted.by, *wanted.measures, *(one.column for one in conditions)])
        try:
            return grouped(self._rows_of(files), wanted, self._all(conditions), list(columns))
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:  # a key that is a list, for instance
            raise NotReadable.because(f"the column {', '.join(wanted.by)}", self.table.table_uri, error) from error

    @cached_property
    def files(self) -> FileStatistics:
        """What Delta knows of the files. Errors: as of `dataset`, since rows of a file may be deleted."""
        self._check()
        return FileStatistics(pa.table(self.table.get_add_actions(flatten=True)))

    def _that_may_meet(self, conditions: Sequence[Condition]) -> FileStatistics:
        return self.files.where(pc.invert(self.files.none_meets(conditions)))

    @cached_property
    def dataset(self) -> Dataset:
        """All rows. Errors: NotReadable where the table has features that `deltalake` does not read."""
        return self._whole()

    def _check(self) -> None:
        """Errors: those of `dataset`, which is only made where the table may have such features."""
        if self.table.protocol().min_reader_version > 1:
            self._whole()

    def _whole(self) -> Dataset:
        try:
            return self.table.to_pyarrow_dataset(filesystem=self._files)
        except (DeltaError, OSError, ValueError) as error:
            raise NotReadable.because("the lake", self.table.table_uri, error) from error

    @cached_property
    def _no_rows(self) -> Dataset:
        """The same without a file. Errors: those of `dataset`."""
        from pyarrow import dataset

        self._check()
        options = dataset.ParquetFragmentScanOptions(pre_buffer=True)
        format = dataset.ParquetFileFormat(default_fragment_scan_options=options)
        return dataset.FileSystemDataset([], pa.schema(self.table.schema().to_arrow()), format, self._place)

    @property
    def _schema(self) -> pa.Schema:
        return self._no_rows.schema

    def _rows_of(self, files: FileStatistics) -> Dataset:
        """Those of these files; `deltalake` would write all that is known of each file as a condition."""
        from pyarrow import dataset

        empty = self._no_rows
        made = [
            empty.format.make_fragment(unquote(path), filesystem=empty.filesystem, partition_expression=where)
            for path, where in zip(files.paths, files.partitions(empty.schema), strict=True)
        ]
        return dataset.FileSystemDataset(made, empty.schema, empty.format, empty.filesystem)

    @property
    def _files(self) -> fs.FileSystem | None:
        """Arrow's own for a folder of this machine: what `deltalake` brings calls Python from threads of Arrow."""
        from pyarrow import fs

        return None if self.folder is None else fs.SubTreeFileSystem(str(self.folder), fs.LocalFileSystem())

    @property
    def _place(self) -> fs.FileSystem:
        """The files of the table's folder."""
        from deltalake.fs import DeltaStorageHandler
        from pyarrow import fs

        return self._files or fs.PyFileSystem(DeltaStorageHandler.from_table(self.table._table))

    def _all(self, conditions: Sequence[Condition]) -> pc.Expression:
        return reduce(operator.and_, map(self._holds, conditions), pc.scalar(True))

    def _holds(self, one: Condition) -> pc.Expression:
        kind = self._schema.field(one.column).type
        value = pa.scalar(one.value).cast(kind) if pa.types.is_timestamp(kind) else one.value
        return _HOLDS[one.holds](pc.field(one.column), value)


def _kind(kind: pa.DataType) -> Kind:
    if pa.types.is_floating(kind):
        return "floating"
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return "number"
    return "map" if pa.types.is_map(kind) else "other"
