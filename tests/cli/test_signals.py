"""A stream that a supervisor ends: SIGTERM reaches all processes of its group, the JVM too."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.lake import pipeline, write_files


@pytest.mark.spark
def test_a_stream_ends_after_its_tick_when_the_whole_group_is_told_to(tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(2))
    file = tmp_path / "pipeline.yaml"
    file.write_text(yaml.safe_dump(pipeline(tmp_path).to_mapping()))
    command = [sys.executable, "-c", "from windrow.cli import main; main()", "run", str(file), "--every", "100ms"]
    stream = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ, start_new_session=True
    )
    try:
        while not (tmp_path / "lake" / "sums" / "panes" / "_delta_log").exists():
            assert stream.poll() is None, stream.communicate()[0]
            time.sleep(0.2)
    finally:
        os.killpg(stream.pid, signal.SIGTERM)
        said = stream.communicate(timeout=120)[0]
    assert stream.returncode == 0 and "could not go on" not in said, said
