"""The moments of a window's life at which a trigger can finish."""

from __future__ import annotations

from enum import IntEnum


class Moment(IntEnum):
    """The earliest moment in a window's life, in order."""

    BEFORE_WATERMARK = 0
    AT_WATERMARK = 1
    AT_EXPIRY = 2
    NEVER = 3
