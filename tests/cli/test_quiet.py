"""What is started for a command writes nothing to its stdout, which is for results."""

import subprocess
import sys

SCRIPT = """
import os, time
from windrow.drivers.spark.quiet import quiet_start
with quiet_start():
    os.system("echo from stdout; echo from stderr >&2; echo Deleted 3 files and directories in a total of 2.")
print("result", flush=True)
time.sleep(0.5)
"""


def test_only_results_are_on_stdout_and_no_noise_anywhere() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "result\n"
    assert sorted(done.stderr.splitlines()) == ["from stderr", "from stdout"]
