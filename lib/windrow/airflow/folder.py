"""What a DAG file calls: the DAGs of a folder of pipeline files, or of one file, and the errors of a folder.

Airflow knows one import error for each DAG file, and stops every DAG of a file that has one. So `dags_of` raises none
for a pipeline file: the DAG of a wrong one stays, on its schedule, and each of its tasks fails with the error.
`check_folder`, in a DAG file of its own, raises them all as the import error of that file.
"""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG, get_parsing_context

from windrow.airflow.dags import backfill_dag, id_of, wrong_dag
from windrow.airflow.files import PipelineFile, read_file, read_folder
from windrow.spec.errors import WindrowError

_SUFFIX = id_of("")


class WrongPipelineFiles(WindrowError):
    """Pipeline files that are wrong, each with its error."""

    def __init__(self, files: list[PipelineFile]) -> None:
        self.files = [file.path for file in files]
        super().__init__("\n".join(["", *(file.words for file in files)]))


def dags_of(folder: str | Path, project: str | Path | None = None) -> dict[str, DAG]:
    """The DAGs of the pipeline files of a folder (`.yaml`, `.yml`), by their ids: `globals().update(dags_of(...))`.

    `project` is the folder where relative paths start: that of the folder, those in its files, and `out/` for reports.
    Without it they start where the process does. A process that runs a task makes the DAG of this task only.
    Raises SpecError where there is no such folder; a wrong file has a DAG that fails.
    """
    root = Path.cwd() if project is None else Path(project)
    wanted = get_parsing_context().dag_id
    only = wanted.removesuffix(_SUFFIX) if wanted is not None else None
    made = _made(read_folder(root / folder, root, only), root)
    if wanted is None or wanted in made:
        return made
    return _made(read_folder(root / folder, root), root)


def dag_of(file: str | Path, project: str | Path | None = None) -> DAG:
    """The DAG of a pipeline file, for a DAG file of its own, whose import error a wrong pipeline file is.

    Two files of one name are not told apart, as the others are not read. Raises SpecError.
    """
    root = Path.cwd() if project is None else Path(project)
    read = read_file(root / file, root)
    if read.pipeline is None:
        raise read.error or AssertionError(file)
    return backfill_dag(read.pipeline, read.path, root)


def check_folder(folder: str | Path, project: str | Path | None = None) -> None:
    """Raises WrongPipelineFiles where pipeline files of a folder are wrong, and names them all.

    It is for a DAG file of its own: Airflow shows its import error, and the DAGs of other files go on.
    """
    if get_parsing_context().dag_id is not None:
        return
    root = Path.cwd() if project is None else Path(project)
    wrong = [file for file in read_folder(root / folder, root) if file.error is not None]
    if wrong:
        raise WrongPipelineFiles(wrong)


def _made(files: list[PipelineFile], project: Path) -> dict[str, DAG]:
    """A wrong file takes the name of no right one, and several of one name have one DAG, which tells of all."""
    made = {id_of(file.name): backfill_dag(file.pipeline, file.path, project) for file in files if file.pipeline}
    wrong: dict[str, list[PipelineFile]] = {}
    for file in files:
        if file.error is not None and id_of(file.name) not in made:
            wrong.setdefault(file.name, []).append(file)
    return made | {id_of(name): wrong_dag(name, same) for name, same in wrong.items()}
