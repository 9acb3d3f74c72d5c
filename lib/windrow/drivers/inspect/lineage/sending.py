"""Events to a service that takes OpenLineage, such as Marquez: one POST an event."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from windrow.spec.errors import SpecError
from windrow.view.lineage.events import Values

ENDPOINT = "/api/v1/lineage"
"""Where services take events, unless the address names a path of its own."""
API_KEY = "OPENLINEAGE_API_KEY"
"""The variable of the environment that all clients of OpenLineage read: a key, sent as a bearer token."""
_SECONDS = 10


def send(events: Iterable[Values], url: str) -> int:
    """Send events in their order, and give their number. Raises SpecError for what is no address, OSError where the
    service does not take one.
    """
    if not url.startswith(("http://", "https://")):
        raise SpecError("--url", "must be an address that begins with http:// or https://", url)
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    address = f"{scheme}://{host}/{path}" if path else f"{scheme}://{host}{ENDPOINT}"
    key = os.environ.get(API_KEY)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    number = 0
    for event in events:
        try:
            with urlopen(Request(address, json.dumps(event).encode(), headers), timeout=_SECONDS):
                number += 1
        except HTTPError as error:
            raise OSError(f"{address} has refused event {number + 1}: {error.code} {error.reason}") from error
        except URLError as error:
            raise OSError(f"{address} cannot be reached: {error.reason}") from error
    return number
