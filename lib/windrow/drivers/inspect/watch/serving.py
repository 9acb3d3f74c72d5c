"""The page of a watched pipeline on a port of this machine: for reading only, and for nobody from elsewhere.

It listens on 127.0.0.1 alone. The browser of whoever is at this machine can be told by any site to ask here, under a
name that the site has given this address (DNS rebinding), so a request must name the machine as its own user does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from windrow.spec.errors import SpecError
from windrow.view.watch.page import SECURITY_POLICY

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

ADDRESS = "127.0.0.1"
"""The loopback address: nobody reaches it from another machine."""
_OWN_NAME = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
"""What this machine is called from within. The port may be another one: that of a tunnel."""
METHODS = ("GET", "HEAD")

HEADERS = (
    ("Content-Security-Policy", SECURITY_POLICY),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-store"),
)
"""Of every answer: no other site may read or frame the page, and nothing in it may run but its own script."""


@dataclass(frozen=True)
class Application:
    """Answers a request for the page as WSGI has it, and nothing else. Rule: docs/operations.md#on-a-page."""

    page: Callable[[], str]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        method, headers = environ["REQUEST_METHOD"], list(HEADERS)
        status = refusal(method, environ.get("HTTP_HOST"), environ.get("PATH_INFO", ""))
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append(("Allow", ", ".join(METHODS)))
        kind, text = ("html", self.page()) if status is None else ("plain", f"{status.phrase}\n")
        body = text.encode()
        headers += [("Content-Type", f"text/{kind}; charset=utf-8"), ("Content-Length", str(len(body)))]
        answer = status or HTTPStatus.OK
        start_response(f"{answer.value} {answer.phrase}", headers)
        return [] if method == "HEAD" else [body]


def refusal(method: str, host: str | None, path: str) -> HTTPStatus | None:
    """Why a request is refused; None where it is not."""
    if _OWN_NAME.fullmatch(host or "") is None:
        return HTTPStatus.MISDIRECTED_REQUEST
    if method not in METHODS:
        return HTTPStatus.METHOD_NOT_ALLOWED
    return None if path == "/" else HTTPStatus.NOT_FOUND


@contextmanager
def served(page: Callable[[], str], port: int) -> Iterator[WSGIServer]:
    """A server of the page, on this port, or a free one for 0; it answers once somebody calls `serve_forever`.

    Raises SpecError for a port that is taken.
    """
    try:
        server = make_server(ADDRESS, port, Application(page), _Server, _Handler)
    except OSError as error:
        rule, hint = f"cannot be listened on: {error.strerror or error}", "another port, or 0 for a free one"
        raise SpecError("--port", rule, port, hint) from error
    with server:
        yield server


def address_of(server: WSGIServer) -> str:
    """What to type into a browser."""
    return f"http://{ADDRESS}:{server.server_port}/"


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each request; none of them is waited for."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone away, or says nothing, is nobody's trouble."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(WSGIRequestHandler):
    """Says nothing of requests, and waits for none that does not come to its end."""

    timeout = 30
    server_version = "windrow"
    sys_version = ""

    def log_message(self, format: str, *args: Any) -> None:
        pass
