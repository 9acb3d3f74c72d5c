"""The commands of the soak: a stream that is killed and started again, and batches; each in a process group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MEMORY = "1g"
"""Of the JVM of each command: what is in use fills a fifth of it, and garbage the rest within some minutes."""

EVERY = "15s"
"""From tick to tick: long enough for a slow machine too, whose pace would show in every count of files otherwise."""

CLEANED = 2.0
"""Seconds for Spark to give up what the collection before has found."""
CLASSES = 300
"""So many of the largest classes of a histogram are kept, and its heading."""


def started(arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """A command of windrow, in a process group of its own; what it says is added to a file."""
    environment: Mapping[str, str] = {**os.environ, "WINDROW_DRIVER_MEMORY": MEMORY}
    with log.open("ab") as file:
        command = [sys.executable, "-m", "windrow", *arguments]
        return subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)


@dataclass
class Stream:
    """`windrow run` over the pipeline file, which is started again whenever it is found dead.

    `kills` counts those by us, `deaths` those that nobody has asked for.
    """

    file: Path
    log: Path
    kills: int = 0
    deaths: list[str] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None
    _killed: bool = False

    def keep_alive(self) -> None:
        """Start it, unless it is at work."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None and not self._killed:  # a machine without memory kills, too
            self.deaths.append(f"exit code {self._process.returncode}")
        self._killed = False
        self._process = started(["run", str(self.file), "--every", EVERY, "--json"], self.log)

    def kill(self) -> None:
        """End it and all that it has started with -9, at whatever it is."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._killed = True
            self.kills += 1

    def end(self) -> None:
        """End it after its tick; whether it had died before, or does not end well, is among `deaths`."""
        if self._process is None or self._killed:
            return
        if self._process.poll() is not None:
            self.deaths.append(f"exit code {self._process.returncode}")
            return
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            code = self._process.wait(120)
        except subprocess.TimeoutExpired:
            self.kill()
            self.deaths.append("SIGTERM did not end it in two minutes")
        else:
            if code:
                self.deaths.append(f"exit code {code} after SIGTERM")

    def memory(self) -> int | None:
        """The bytes that it and its JVM hold; None while it is not at work."""
        members = self._members()
        return sum(map(_resident, members)) if members else None

    def threads(self) -> int | None:
        """Their threads; None while it is not at work."""
        members = self._members()
        return sum(map(_threads, members)) if members else None

    def live(self) -> int | None:
        """The bytes of the objects of its JVM that are in use, after a full collection; None while there is none."""
        for process in self._members():
            if _is_java(process):
                return self._in_use(process)
        return None

    def _in_use(self, process: int) -> int | None:
        """By the histogram of its classes, whose last line is `Total INSTANCES BYTES`; None where none comes.

        The largest classes are kept in a file beside the log: they say what has grown. What Spark has stored for an
        object that nobody uses it gives up some time behind the collection that found it.
        """
        try:
            subprocess.run(["jcmd", str(process), "GC.run"], capture_output=True, timeout=60)
            time.sleep(CLEANED)
            asked = ["jcmd", str(process), "GC.class_histogram"]
            found = subprocess.run(asked, capture_output=True, text=True, timeout=60).stdout.splitlines()
        except (FileNotFoundError, subprocess.TimeoutExpired):
            return None
        with self.log.with_name("classes.log").open("a") as file:
            file.write("\n".join([time.strftime("%FT%TZ", time.gmtime()), *found[:CLASSES], ""]))
        words = found[-1].split() if found else []
        return int(words[2]) if words[:1] == ["Total"] else None

    def _members(self) -> list[int]:
        """Its processes, while it is at work."""
        if self._process is None or self._process.poll() is not None:
            return []
        return _group(self._process.pid)


def _group(group: int) -> list[int]:
    """The processes of a group."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if entry.name.isdigit() and os.getpgid(int(entry.name)) == group:
                found.append(int(entry.name))
    return found


def _is_java(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip() == "java"
    return False


def _threads(process: int) -> int:
    with suppress(OSError):
        return len([*Path(f"/proc/{process}/task").iterdir()])
    return 0


def _resident(process: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


@dataclass
class Batch:
    """A command beside the stream, one at a time: what it was, how long it took, and with which exit code it ended."""

    log: Path
    ended: list[dict[str, object]] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None
    _name: str = ""
    _began: float = 0.0

    @property
    def is_active(self) -> bool:
        """Whether one is at work; notes how it has ended."""
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None:
            return True
        self.ended.append({"command": self._name, "seconds": time.monotonic() - self._began, "code": code})
        self._process = None
        return False

    def start(self, *arguments: str) -> None:
        self._name, self._began = arguments[0], time.monotonic()
        self._process = started(arguments, self.log)

    def wait(self, most: float) -> None:
        """Wait for its end; one that takes longer is killed."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(most)
            self.kill()
            assert not self.is_active

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
