"""The clocks by which a trigger may wait. Rule: SEMANTICS section 5."""

from __future__ import annotations

from enum import StrEnum

from windrow.spec.fields.kinds import choice


class Domain(StrEnum):
    """The clock of a deadline: processing time (`now`) or event time (the watermark)."""

    PROCESSING_TIME = "processing_time"
    EVENT_TIME = "event_time"

    @property
    def words(self) -> str:
        """The clock, as people call it."""
        return "the clock" if self is Domain.PROCESSING_TIME else "the watermark"


DOMAIN = choice(Domain, {"wall_time": "processing_time", "stream_time": "event_time"})
