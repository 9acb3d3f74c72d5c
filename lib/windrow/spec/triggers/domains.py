"""The clocks by which a trigger may wait. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from windrow.spec.fields.kinds import choice
from windrow.spec.fields.reading import Kind


class Domain(StrEnum):
    """The clock of a deadline: processing time (`now`) or event time (the watermark)."""

    PROCESSING_TIME = "processing_time"
    EVENT_TIME = "event_time"

    @property
    def words(self) -> str:
        """The clock, as people call it."""
        return "the clock" if self is Domain.PROCESSING_TIME else "the watermark"


DomainLike = Domain | Literal["processing_time", "event_time"]
DOMAIN: Kind[Domain, DomainLike] = choice(Domain, {"wall_time": "processing_time", "stream_time": "event_time"})
