"""A stand-in for Unity Catalog's server: as much of its REST interface as names need, in memory, in this process.

The server itself is in no registry of packages. What is asked and answered here has the shapes that the interface is
published with, and both sides of a test are real clients of it: that of Delta's jars, and Polars.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

CATALOG, TOKEN = "main", "token-of-tests"
REST = "/api/2.1/unity-catalog"
_OF_TABLE = ("name", "catalog_name", "schema_name", "table_type", "columns")
"""What a table must be made with."""
_MADE = {
    "owner": None,
    "created_at": 1700000000000,
    "created_by": None,
    "updated_at": 1700000000000,
    "updated_by": None,
}


class Refused(Exception):
    """An answer that is an error: its code, and what the interface calls it."""


@dataclass
class UnityCatalog:
    """What the server knows: `catalogs`, and by full name schemas and tables. `asked` is every change, in order."""

    catalogs: set[str] = field(default_factory=lambda: {CATALOG})
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_open: bool = False
    """Whether it lets everybody in, as the server does by default."""

    def answer(self, method: str, what: str, name: str | None, given: dict[str, Any]) -> Any:
        """What a request gets. Raises Refused."""
        if method != "GET":
            self.asked.append(f"{method} {what} {name or given.get('name')}")
        match method, what:
            case "POST", "schemas":
                return self._made(self.schemas, given, self.catalogs, given["catalog_name"])
            case "POST", "tables":
                if any(part not in given for part in _OF_TABLE) or not given.get("storage_location"):
                    raise Refused(400, "INVALID_ARGUMENT")
                schema = f"{given['catalog_name']}.{given['schema_name']}"
                return self._made(self.tables, {**given, **_MADE, "table_id": str(uuid4())}, self.schemas, schema)
            case "GET", "tables" if name is None:
                schema = f"{given['catalog_name']}.{given['schema_name']}."
                return {"tables": [one for full, one in self.tables.items() if full.startswith(schema)]}
            case (("GET" | "DELETE"), "tables") if name in self.tables:
                return self.tables[name] if method == "GET" else self.tables.pop(name) and {}
        raise Refused(404, "NOT_FOUND")

    def _made(self, known: dict[str, Any], given: dict[str, Any], above: Any, parent: str) -> dict[str, Any]:
        full = f"{parent}.{given['name']}"
        if parent not in above:
            raise Refused(404, "NOT_FOUND")
        if full in known:
            raise Refused(409, "ALREADY_EXISTS")
        known[full] = {**given, "full_name": full}
        return known[full]


def _handler(server: UnityCatalog) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            url = urlsplit(self.path)
            what, _, name = url.path.removeprefix(f"{REST}/").partition("/")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = {**dict(parse_qsl(url.query)), **(json.loads(body) if body else {})}
            try:
                if not server.is_open and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise Refused(401, "UNAUTHENTICATED")
                self._send(200, server.answer(self.command, what, unquote(name) or None, given))
            except Refused as refused:
                code, error = refused.args
                self._send(code, {"error_code": error, "message": f"{error} {what} {name}"})

        do_GET = do_POST = do_DELETE = _do

        def _send(self, code: int, content: Any) -> None:
            answer = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """It says nothing."""

    return Handler


@contextmanager
def unity_catalog() -> Iterator[tuple[str, UnityCatalog]]:
    """Where such a server answers, until the end of the block, and what it knows."""
    known = UnityCatalog()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(known)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", known
        server.shutdown()


def asked(url: str, what: str) -> Any:
    """What the server answers."""
    request = urllib.request.Request(f"{url}{REST}/{what}", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)
