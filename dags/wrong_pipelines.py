"""The import errors of pipeline files that are wrong, in a DAG file without DAGs: those of `pipelines.py` go on.

The variables of the environment are those of `pipelines.py`.
"""

import os
from pathlib import Path

from windrow.airflow import check_folder

PROJECT = os.environ.get("WINDROW_PROJECT", Path(__file__).resolve().parents[1])
check_folder(os.environ.get("WINDROW_PIPELINES", "conf/pipelines"), PROJECT)
