"""The DAGs of pipeline files, for a scheduler: no Spark is needed where they are read, only where their jobs run.

    from windrow.airflow import dags_of
    globals().update(dags_of("/srv/flights/conf/pipelines", project="/srv/flights"))

is a whole DAG file. `check_folder` in a DAG file of its own makes Airflow's import errors of pipeline files that are
wrong; `dag_of` is for one DAG file for each pipeline file. `DagOptions` says whom to tell.
"""

from windrow.airflow.folder import check_folder, dag_of, dags_of
from windrow.airflow.options import DagOptions

__all__ = ["DagOptions", "check_folder", "dag_of", "dags_of"]
