"""What servers for tests need: a port, and their jars from Maven's registry, once, in the environment's folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(sys.prefix) / "windrow-test-jars"

_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>windrow</groupId><artifactId>server</artifactId><version>1</version><dependencies>
{}
</dependencies></project>
"""


class NoServer(Exception):
    """There is no server to be had here, and why."""


def jars(name: str, packages: Sequence[str]) -> Path:
    """The folder of that name with the jars of packages (`group:name:version`), downloaded on first use.

    Errors: NoServer.
    """
    folder = FOLDER / name
    if folder.exists():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise NoServer(f"these tests need Maven, once, to fetch {name}: install `maven`")
    half = folder.with_name(f"{name}.half-{os.getpid()}")
    half.mkdir(parents=True)
    dependencies = [_DEPENDENCY.format(*package.split(":")) for package in packages]
    (half / "pom.xml").write_text(_POM.format("\n".join(dependencies)))
    command = [maven, "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={half}"]
    done = subprocess.run(command, cwd=half, capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(half)
        raise NoServer(f"Maven could not fetch {name}: {done.stdout[-500:]}")
    try:
        half.rename(folder)
    except OSError:  # another process of the run was first
        shutil.rmtree(half)
    return folder


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
