"""The DAGs of every pipeline file: `<pipeline>_backfill`, and those that its `schedule` names.

| variable of the environment | what |
|---|---|
| `WINDROW_PROJECT` | where relative paths start, and `out/` has the reports. Default: the folder above this one |
| `WINDROW_PIPELINES` | the folder of the pipeline files. Default: `conf/pipelines` of the project |
"""

import os
from pathlib import Path

from windrow.airflow import dags_of

PROJECT = os.environ.get("WINDROW_PROJECT", Path(__file__).resolve().parents[1])
globals().update(dags_of(os.environ.get("WINDROW_PIPELINES", "conf/pipelines"), PROJECT))
