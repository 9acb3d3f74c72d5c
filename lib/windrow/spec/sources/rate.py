"""Numbers that count up, to try a pipeline out."""

from __future__ import annotations

from windrow.spec.fields.kinds import POSITIVE_INTEGER
from windrow.spec.fields.typed import plain, specification
from windrow.spec.sources.connector import Connector
from windrow.spec.words import many


@specification
class Rate(Connector):
    """Rows that count up, so many a second, to try a pipeline out: `timestamp` and `value`, from 0 on."""

    NAME = "rate"
    YAML_HINTS = {"rowsPerSecond": "rows_per_second"}
    HAS_FILES = False
    SCHEMA = {"timestamp": "timestamp", "value": "bigint"}

    rows_per_second: int = plain(POSITIVE_INTEGER, default=1)

    @property
    def has_names(self) -> bool:
        return False

    def words(self) -> str:
        return f"{self.kind_words()}, {many(self.rows_per_second, 'row')} a second"

    def kind_words(self) -> str:
        return "numbers that count up"
