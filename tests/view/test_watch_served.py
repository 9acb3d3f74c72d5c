"""The page on a port: who is answered and how, that a look that fails is told, and what a browser makes of it."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from tests.view.browser import browse, needs_browser
from tests.view.looks import NOW, busy
from windrow.drivers.inspect.watch.serving import HEADERS, Application, address_of, served
from windrow.drivers.inspect.watch.watcher import Watcher
from windrow.spec.errors import NotReadable, SpecError
from windrow.spec.times import SECOND
from windrow.view.watch.look import Look
from windrow.view.watch.page import page

# ---------------------------------------------------------------- answers


def answered(**environ: str) -> tuple[str, dict[str, str], bytes]:
    """What the application answers, checked against the rules of WSGI."""
    given: dict[str, Any] = {"QUERY_STRING": ""}
    setup_testing_defaults(given)
    given |= {"HTTP_HOST": "127.0.0.1:8642", **environ}
    if environ.get("HTTP_HOST") == "":
        del given["HTTP_HOST"]
    heads: list[tuple[str, list[tuple[str, str]]]] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Any:
        heads.append((status, headers))
        return lambda text: None

    parts = validator(Application(lambda: "<p>page</p>"))(given, start)
    body = b"".join(parts)
    parts.close()  # type: ignore[attr-defined]
    ((status, headers),) = heads
    assert {*HEADERS} <= {*headers}, "every answer has them"
    return status, dict(headers), body


def test_the_page() -> None:
    status, headers, body = answered()
    assert (status, body) == ("200 OK", b"<p>page</p>")
    assert headers["Content-Type"] == "text/html; charset=utf-8" and headers["Content-Length"] == "11"
    assert headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"


def test_head_is_the_same_without_the_page() -> None:
    (status, headers, body), (_, same, _) = answered(REQUEST_METHOD="HEAD"), answered()
    assert (status, headers, body) == ("200 OK", same, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_else_is_done(method: str) -> None:
    status, headers, _ = answered(REQUEST_METHOD=method)
    assert (status, headers["Allow"]) == ("405 Method Not Allowed", "GET, HEAD")


@pytest.mark.parametrize("path", ["/x", "//", "/../etc/passwd", "/favicon.ico", "/%2e%2e/", "/_windrow"])
def test_there_is_one_page(path: str) -> None:
    status, headers, body = answered(PATH_INFO=path)
    assert (status, body) == ("404 Not Found", b"Not Found\n") and headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "localhost:9000", "localhost", "[::1]:8642"])
def test_this_machine_may_be_called_by_its_own_names(host: str) -> None:
    """With any port, as a tunnel from another machine has one of its own."""
    assert answered(HTTP_HOST=host)[0] == "200 OK"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8642", "127.0.0.1.evil.example:8642", "localhost.evil.example", "localhost.", "",
     "192.168.1.7:8642", "127.0.0.1:8642@evil.example", "evil.example#localhost", ":8642", "localhost:80:8642"],
)  # fmt: skip
def test_a_name_that_a_site_has_given_this_machine_is_refused(host: str) -> None:
    for method in ("GET", "POST"):
        status, _, body = answered(HTTP_HOST=host, REQUEST_METHOD=method)
        assert (status, body) == ("421 Misdirected Request", b"Misdirected Request\n")


# ---------------------------------------------------------------- on a port


@contextmanager
def serving(pages: Any) -> Iterator[tuple[str, int]]:
    """The address and the port of the page while it is served."""
    with served(pages, 0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield address_of(server), server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_it_listens_on_the_loopback_address_alone() -> None:
    with served(lambda: "", 0) as server:
        assert server.server_address[0] == "127.0.0.1"
        assert address_of(server) == f"http://127.0.0.1:{server.server_port}/"


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(SpecError, match=r"--port cannot be listened on: .*in use; got.*0 for a free one"),
            served(lambda: "", port),
        ):
            pass


def test_it_answers_while_another_says_nothing() -> None:
    with serving(lambda: "page") as (_, port), socket.create_connection(("127.0.0.1", port)):
        for method, length in (("GET", 4), ("HEAD", 0), ("GET", 4)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request(method, "/")
            answer = connection.getresponse()
            assert (answer.status, len(answer.read())) == (200, length)
            assert answer.headers["Content-Length"] == "4" and answer.headers["Content-Security-Policy"]
            connection.close()


def test_who_goes_away_leaves_no_trace(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(lambda: "page" * 100_000) as (_, port):
        for text in (b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x00\xff\r\n\r\n"):
            gone = socket.create_connection(("127.0.0.1", port))
            gone.sendall(text)
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            gone.close()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
    assert "Traceback" not in capfd.readouterr().err


# ---------------------------------------------------------------- looks


def test_many_who_ask_at_once_look_once() -> None:
    looks, elapsed, found = count(), [0.0], []
    watcher = Watcher(lambda: busy(late={"n": next(looks)}), 5, lambda: elapsed[0])
    for elapsed[0] in (0, 1, 4.9, 5, 9.9, 30):
        found.append(watcher.newest().late["n"])
    assert found == [0, 0, 0, 1, 1, 2]


def test_the_first_look_says_what_is_wrong_and_a_later_one_is_told() -> None:
    answers: list[Look | Exception] = [
        NotReadable("lake", "is in no place"), busy(), FileNotFoundError("part-0.parquet"),
        NotReadable("lake", "is gone"), busy(late={}),
    ]  # fmt: skip

    def look() -> Look:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    watcher = Watcher(look, 0, clock=lambda: NOW + 5 * SECOND + 1)
    with pytest.raises(NotReadable):
        watcher.newest()
    assert watcher.newest().failure == ""
    failed = watcher.newest()
    assert failed.failure == (
        "The look at 2024-01-01 12:00:12 UTC has failed: FileNotFoundError: part-0.parquet. "
        "What is shown is of 2024-01-01 12:00:07."
    )
    assert replace(failed, failure="") == busy() and failed.headline[1] == failed.failure
    assert "lake is gone. What" in watcher.newest().failure
    assert watcher.newest() == busy(late={}), "and then it looks again as before"


# ---------------------------------------------------------------- in a browser


def watched(url: str, folder: Path, script: str = "", budget: int = 3000) -> tuple[str, str]:
    """The page after some seconds of its own time, and what the browser complains of."""
    log = folder / "chrome.log"
    options = (f"--user-data-dir={folder}/profile", "--enable-logging", f"--log-file={log}")
    dom = browse(*options, f"--virtual-time-budget={budget}", "--dump-dom", url)
    return dom, "\n".join(line for line in log.read_text(errors="replace").splitlines() if "CONSOLE" in line)


@needs_browser
def test_the_page_looks_again_by_itself_under_its_policy(tmp_path: Path) -> None:
    number = count()

    def pages() -> str:
        n, look = next(number), busy()
        return page(replace(look, standing=replace(look.standing, now=NOW + n * SECOND)), 0.2)

    with serving(pages) as (url, _):
        dom, complaints = watched(url, tmp_path)
    shown = re.search(r"Looked at 2024-01-01 12:00:(\d+) UTC", dom)
    assert shown is not None and int(shown[1]) > 9, "it has asked several times"
    assert '<button id="pause" type="button">Pause</button>' in dom and re.search(r'id="gone"[^>]*hidden', dom)
    assert "violates" not in complaints and "Refused" not in complaints, complaints


@needs_browser
def test_a_page_whose_server_has_ended_says_so(tmp_path: Path) -> None:
    made = page(busy(), 0.2)
    (tmp_path / "page.html").write_text(made)
    dom, _ = watched(f"file://{tmp_path}/page.html", tmp_path)
    (gone,) = re.findall(r'<div id="gone"[^>]*>', dom)
    assert "hidden" not in gone and "2024-01-01 12:00:07" in dom, "what it shows stays"


@needs_browser
def test_what_is_watched_keeps_its_place(tmp_path: Path) -> None:
    """An element that has not changed is the same one after the next look: the focus and a selection stay."""
    number = count()
    probe = """<script>const kept = document.querySelector(".stage dd"), text = document.querySelector("h2").firstChild;
    setTimeout(() => { document.body.dataset.still = [kept.isConnected, text.isConnected].join(" ") }, 2500)
    </script></body>"""

    def pages() -> str:
        n, look = next(number), busy()
        stages = look.stages if n % 2 else look.stages[:1]
        made = page(replace(look, standing=replace(look.standing, now=NOW + n * SECOND, stages=stages)), 0.2)
        return made.replace("</body>", probe)

    # without a policy, as the probe is none of its scripts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("windrow.drivers.inspect.watch.serving.HEADERS", ())
        with serving(pages) as (url, _):
            dom, _ = watched(url, tmp_path, budget=2600)
    assert 'data-still="true true"' in dom
