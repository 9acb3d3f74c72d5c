"""What XML cannot hold, even escaped."""

from __future__ import annotations

import re

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def in_xml(text: str) -> str:
    """The text with a replacement for each character that XML does not know, such as most control characters."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
