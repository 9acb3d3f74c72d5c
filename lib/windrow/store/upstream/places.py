"""What is written in the raw log of a source that is read in place, for who writes it and for who only looks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KIND, PART, COUNT = "_kind", "part", "count"
"""The column of the kind of a row: it says where rows of the source are, or what was counted of them."""

IN_PLACE = "action"
"""The column that says of a part which file it is, as the table's log adds it, or that it is all changes of a version.
No other raw log has such a column without `_row` beside it."""

CHANGES = "changes"
"""What such an action says for all changes of a version."""

END = "read_until"
"""The note of a landing step that says where it ended in the source's own log."""

FILES = "files"
"""What that note says where there is no log but the files: how many of them have landed."""


FILE = "file"
"""What such an action says for a file that is in no table's log."""


@dataclass(frozen=True)
class Reading:
    """How files were read when they landed: so they are read again, whatever the source says by then.

    `schema` are the columns with their types, in order; `path` is that of the source. `rename` has the other names that
    fields of these columns had. `columns` are the names in the first line of a CSV file, if not those of the schema;
    `separator` stands between its values.
    """

    schema: tuple[tuple[str, str], ...]
    format: str
    header: bool
    path: str
    rename: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] | None = None
    separator: str = ","

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Reading:
        pairs = {name: tuple((one, other) for one, other in said.get(name, ())) for name in ("schema", "rename")}
        columns = said.get("columns")
        return cls(**{**said, **pairs, "columns": None if columns is None else tuple(columns)})


@dataclass(frozen=True)
class LandedFile:
    """A file that has landed where it is: its size in bytes, and when it was last written, in ms since 1970.

    `why` says in words why none of it could be read.
    """

    reading: Reading
    size: int = 0
    modified: int = 0
    why: str | None = None

    @property
    def action(self) -> str:
        return json.dumps({FILE: asdict(self)})

    @classmethod
    def of(cls, action: str) -> LandedFile | None:
        """The file of an action; None where it is of a table's log."""
        said = json.loads(action).get(FILE)
        return None if said is None else cls(**{**said, "reading": Reading.of(said["reading"])})


def path_of(action: str) -> str | None:
    """The path of the file that an action adds, as it stands in the log; None for the changes of a version."""
    add = json.loads(action).get("add")
    return None if add is None else str(add["path"])
