"""What is written in the raw log of a source that is read in place, for who writes it and for who only looks."""

from __future__ import annotations

import json

KIND, PART, COUNT = "_kind", "part", "count"
"""The column of the kind of a row: it says where rows of the source are, or what was counted of them."""

IN_PLACE = "action"
"""The column that says of a part which file it is, as the table's log adds it, or that it is all changes of a version.
No other raw log has such a column without `_row` beside it."""

CHANGES = "changes"
"""What such an action says for all changes of a version."""

END = "read_until"
"""The note of a landing step that says where it ended in the source's own log."""


def path_of(action: str) -> str | None:
    """The path of the file that an action adds, as it stands in the log; None for the changes of a version."""
    add = json.loads(action).get("add")
    return None if add is None else str(add["path"])
