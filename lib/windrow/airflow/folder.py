"""What a DAG file calls: the DAGs of a folder of pipeline files, or of one file, and the errors of a folder.

Airflow knows one import error for each DAG file, and stops every DAG of a file that has one. So `dags_of` raises none
for a pipeline file: the DAG of a wrong one stays, on its schedule, and each of its tasks fails with the error.
`check_folder`, in a DAG file of its own, raises them all as the import error of that file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from airflow.sdk import DAG, get_parsing_context

from windrow.airflow.dags import backfill_dag, id_of, wrong_dag
from windrow.airflow.files import PipelineFile, name_of, read_file, read_folder
from windrow.spec.errors import SpecError, WindrowError

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

    Raises SpecError, also where another file of its folder gives its pipeline the same name.
    """
    root = Path.cwd() if project is None else Path(project)
    path = root / file
    beside = read_folder(path.parent, root, name_of(path)) if path.is_file() else []
    read = next((one for one in beside if one.path == path), None) or read_file(path, root)
    built = _built(read, root)
    if isinstance(built, DAG):
        return built
    raise built.error or AssertionError(file)


def check_folder(folder: str | Path, project: str | Path | None = None) -> None:
    """Raises WrongPipelineFiles where pipeline files of a folder are wrong, and names them all.

    It is for a DAG file of its own: Airflow shows its import error, and the DAGs of other files go on.
    """
    if get_parsing_context().dag_id is not None:
        return
    root = Path.cwd() if project is None else Path(project)
    built = [_built(file, root) for file in read_folder(root / folder, root)]
    wrong = [file for file in built if isinstance(file, PipelineFile)]
    if wrong:
        raise WrongPipelineFiles(wrong)


def _made(files: list[PipelineFile], project: Path) -> dict[str, DAG]:
    """A wrong file takes the name of no right one, and several of one name have one DAG, which tells of all."""
    built = [_built(file, project) for file in files]
    made = {dag.dag_id: dag for dag in built if isinstance(dag, DAG)}
    wrong: dict[str, list[PipelineFile]] = {}
    for file in built:
        if isinstance(file, PipelineFile) and id_of(file.name) not in made:
            wrong.setdefault(file.name, []).append(file)
    return made | {id_of(name): wrong_dag(name, same) for name, same in wrong.items()}


def _built(file: PipelineFile, project: Path) -> DAG | PipelineFile:
    """The DAG of a file, or the file with what is wrong with it: Airflow would refuse all DAGs beside a wrong one."""
    if file.pipeline is None:
        return file
    try:
        dag = backfill_dag(file.pipeline, file.path, project)
        dag.validate()  # type: ignore[no-untyped-call]
    except Exception as error:
        rule = f"gives a DAG that Airflow refuses: {type(error).__name__}: {error}"
        return replace(file, pipeline=None, error=SpecError(f"{file.path}:", rule))
    return dag
