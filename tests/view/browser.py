"""Pages in Chromium, in a frame as wide as a screen; the pictures stay in `out/screens`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.spec.pages import ROOT

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCREENS = ROOT / "out" / "screens"
MEASURE = "<script>parent.postMessage([document.documentElement.scrollWidth, innerWidth].join(' of '), '*')</script>"
FRAME = """<body style="margin: 0"><script>onmessage = (event) => {{ document.title = event.data }}</script>
<iframe src="page.html" width="{width}" height="{height}" style="border: 0; display: block"></iframe>"""
"""A window of Chromium has a least width, which is more than a phone's; a frame has none."""
HEIGHT = 3000

needs_browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium (Debian: apt-get install chromium)")


def browse(*options: str) -> str:
    """What Chromium prints; it is ended with all that it has started."""
    assert BROWSER is not None
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *options]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        return process.communicate(timeout=90)[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def check_picture(text: str, name: str, width: int, folder: Path) -> None:
    """A page as a screen of this width shows it is in the picture `name`: nothing is wider, and it is not blank.

    `folder` is for what the browser needs.
    """
    SCREENS.mkdir(parents=True, exist_ok=True)
    picture = SCREENS / f"{name}.png"
    picture.unlink(missing_ok=True)
    (folder / "page.html").write_text(text.replace("</body>", f"{MEASURE}</body>"))
    (folder / "frame.html").write_text(FRAME.format(width=width, height=HEIGHT))
    size, profile = f"--window-size={max(width, 500)},{HEIGHT}", f"--user-data-dir={folder}/profile"
    url = f"file://{folder}/frame.html"
    dom = browse(size, profile, "--dump-dom", url)
    measured = re.search(r"<title>(\d+) of (\d+)</title>", dom)
    assert measured is not None, dom[:500]
    assert int(measured[1]) <= int(measured[2]) == width, "nothing is wider than the screen"
    browse(size, profile, f"--screenshot={picture}", url)
    drawn = picture.read_bytes()
    assert struct.unpack(">II", drawn[16:24]) == (max(width, 500), HEIGHT)
    assert len(drawn) > 5 * blank(size, profile, folder), "there is something to see"


def blank(size: str, profile: str, folder: Path) -> int:
    """How large the picture of an empty page is."""
    browse(size, profile, f"--screenshot={folder}/blank.png", "about:blank")
    return (folder / "blank.png").stat().st_size
