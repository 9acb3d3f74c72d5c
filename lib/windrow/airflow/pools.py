"""The pool of a lake, with one slot: one DAG at a time writes to it, and a job that hangs stops no other lake.

A task cannot make a pool, and Airflow runs no task of a pool that is not there. So whoever deploys makes them:

    python -m windrow.airflow pools conf/pipelines pools.json
    airflow pools import pools.json
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from windrow.airflow.files import read_folder

_NOT_IN_A_NAME = re.compile(r"\W+", re.ASCII)
_LENGTH = 6


def pool_of(lake: str) -> str:
    """The pool of a lake: its last folder, and a hash of the whole path, as other lakes may end with the same folder.

    A variable that the path names stays as it is written.
    """
    name = _NOT_IN_A_NAME.sub("_", lake.rstrip("/").rpartition("/")[2]).strip("_")
    return f"windrow_{name}_{sha256(lake.encode()).hexdigest()[:_LENGTH]}"


def pools_of(folder: Path, project: Path) -> dict[str, dict[str, Any]]:
    """The pools of the pipeline files of a folder, as `airflow pools import` takes them. Wrong files have none.

    Raises SpecError where there is no such folder.
    """
    lakes = [file.pipeline.lake for file in read_folder(project / folder, project) if file.pipeline is not None]
    return {
        pool_of(lake): {"slots": 1, "description": f"One writer at a time of {lake}", "include_deferred": False}
        for lake in sorted(set(lakes))
    }
