"""An object store for tests: moto's S3 on loopback, in a process and an environment of its own.

    python tests/object_store.py PORT LOSE [deaf]

is that process: one request is served at a time, as moto looks whether there is an object and puts it then, and on S3
nobody comes in between. With LOSE the answer to every so many-th commit that has been put is lost: an error is sent. A
deaf one knows no If-None-Match, as older stores that speak like S3.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENVIRONMENT = Path(sys.prefix) / "windrow-test-moto"
PACKAGE = "moto[s3,server]==5.2.5"
BUCKET = "lakes"
KEY, SECRET, REGION = "tester", "secret-of-tests", "eu-central-1"


class NoObjectStore(Exception):
    """There is none to be had here, and why."""


def installed() -> Path:
    """The interpreter of moto's environment; made on first use. Errors: NoObjectStore."""
    python = ENVIRONMENT / "bin" / "python"
    if python.exists():
        return python
    half = ENVIRONMENT.with_name(f"{ENVIRONMENT.name}.half-{os.getpid()}")
    uv = Path(sys.prefix) / "bin" / "uv"
    for words in (["venv", str(half)], ["pip", "install", "--python", str(half / "bin" / "python"), PACKAGE]):
        done = subprocess.run([str(uv), "--quiet", *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise NoObjectStore(f"the tests of object stores need moto, once: {done.stderr[-500:]}")
    with suppress(OSError):  # another process of the run was first
        half.rename(ENVIRONMENT)
    return python


@dataclass
class ObjectStore:
    """A server of S3 with one bucket."""

    port: int
    lose: int = 0
    deaf: bool = False
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which Spark, `deltalake` and others reach it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url, "AWS_ALLOW_HTTP": "true", "AWS_EC2_METADATA_DISABLED": "true",
        }  # fmt: skip

    def start(self) -> None:
        """Start it with an empty bucket."""
        words = [str(installed()), __file__, str(self.port), str(self.lose), *(["deaf"] if self.deaf else [])]
        self.process = subprocess.Popen(words, start_new_session=True, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{self.url}/{BUCKET}", method="PUT"), timeout=5)
                return
            except OSError:
                time.sleep(0.1)
        raise NoObjectStore("moto's server does not answer")

    def stop(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def seen(self) -> list[list[str]]:
        """What was asked of it so far: method, path, the header If-None-Match, the status of the answer, the query."""
        with urllib.request.urlopen(f"{self.url}/_seen", timeout=30) as answer:
            return [line.split("\t") for line in answer.read().decode().splitlines()]


@contextmanager
def object_store(port: int, lose: int = 0, deaf: bool = False) -> Iterator[ObjectStore]:
    """A server for a while."""
    made = ObjectStore(port, lose, deaf)
    try:
        made.start()
        yield made
    finally:
        made.stop()


# ---------------------------------------------------------------- the process

Answer = Callable[..., Any]


class OneAtATime:
    """An application that serves one request after the other, tells what was asked, and loses some answers."""

    def __init__(self, application: Callable[[Mapping[str, Any], Answer], Any], lose: int, deaf: bool) -> None:
        self.application, self.lose, self.deaf = application, lose, deaf
        self.lock, self.seen, self.commits = threading.Lock(), list[str](), 0

    def __call__(self, asked: dict[str, Any], answer: Answer) -> Any:
        if asked["PATH_INFO"] == "/_seen":
            answer("200 OK", [("Content-Type", "text/plain")])
            return ["\n".join(self.seen).encode()]
        told: list[Any] = []
        condition = asked.pop("HTTP_IF_NONE_MATCH", "") if self.deaf else asked.get("HTTP_IF_NONE_MATCH", "")
        with self.lock:
            body = [*self.application(asked, lambda *words: told.append(words))]
            status = told[0][0]
            words = (asked["REQUEST_METHOD"], asked["PATH_INFO"], condition, status[:3], asked.get("QUERY_STRING", ""))
            self.seen.append("\t".join(words))
            is_put = asked["REQUEST_METHOD"] == "PUT" and status.startswith("200")
            if is_put and "/_delta_log/" in asked["PATH_INFO"] and asked["PATH_INFO"].endswith(".json"):
                self.commits += 1
                if self.lose and self.commits % self.lose == 0:
                    answer("500 Internal Server Error", [("Content-Type", "application/xml")])
                    return [b"<Error><Code>InternalError</Code><Message>lost</Message></Error>"]
        answer(*told[0])
        return body


def main() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    served = OneAtATime(DomainDispatcherApplication(create_backend_app), int(sys.argv[2]), "deaf" in sys.argv[3:])
    run_simple("127.0.0.1", int(sys.argv[1]), served, threaded=True)


if __name__ == "__main__":
    main()
