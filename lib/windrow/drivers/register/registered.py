"""What has been given a name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from windrow.compile.names.relations import Relation


@dataclass(frozen=True)
class Registered:
    """One name: `kind` is `table` or `view`, `what` is what its rows are. `why_not` says why it could not be made."""

    name: str
    kind: str
    what: str
    why_not: str | None = None

    @classmethod
    def of(cls, relation: Relation, name: str, why_not: str | None = None) -> Registered:
        return cls(name, "view" if relation.is_view else "table", relation.comment, why_not)

    def to_mapping(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)
