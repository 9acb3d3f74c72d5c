"""What a DAG file calls: the DAGs of a folder of pipeline files, or of one file, and the errors of a folder.

Airflow knows one import error for each DAG file, and stops every DAG of a file that has one. So `dags_of` raises none
for a pipeline file: the DAG of a wrong one stays, on its schedule, and each of its tasks fails with the error.
`check_folder`, in a DAG file of its own, raises them all as the import error of that file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from airflow.sdk import DAG, get_parsing_context

from windrow.airflow.dags import dags_of_pipeline, wrong_dags
from windrow.airflow.files import PipelineFile, name_of, read_file, read_folder
from windrow.airflow.kinds import KINDS, pipeline_of
from windrow.airflow.options import DagOptions
from windrow.spec.errors import SpecError, WindrowError

DEFAULTS = DagOptions()


class WrongPipelineFiles(WindrowError):
    """Pipeline files that are wrong, each with its error."""

    def __init__(self, files: list[PipelineFile]) -> None:
        self.files = [file.path for file in files]
        super().__init__("\n".join(["", *(file.words for file in files)]))


def dags_of(folder: str | Path, project: str | Path | None = None, options: DagOptions = DEFAULTS) -> dict[str, DAG]:
    """The DAGs of the pipeline files of a folder (`.yaml`, `.yml`), by their ids: `globals().update(dags_of(...))`.

    A pipeline has a DAG `<pipeline>_backfill`, and those that its `schedule` names. `project` is the folder where
    relative paths start: that of the folder, those in its files, and `out/` for reports. Without it they start where
    the process does. A process that runs a task makes the DAGs of its pipeline only.
    Raises SpecError where there is no such folder; a wrong file has DAGs that fail.
    """
    root = Path.cwd() if project is None else Path(project)
    wanted = get_parsing_context().dag_id
    only = pipeline_of(wanted) if wanted is not None else None
    made = _made(read_folder(root / folder, root, only), root, options)
    if wanted is None or wanted in made:
        return made
    return _made(read_folder(root / folder, root), root, options)


def dag_of(
    file: str | Path, project: str | Path | None = None, kind: str = KINDS[0].name, options: DagOptions = DEFAULTS
) -> DAG:
    """A DAG of a pipeline file, for a DAG file of its own, whose import error a wrong pipeline file is.

    `kind` is `backfill`, `restate`, `maintain` or `stream`. Raises SpecError, also where another file of its folder
    gives its pipeline the same name, and where its schedule names no such DAG.
    """
    root = Path.cwd() if project is None else Path(project)
    path = root / file
    beside = read_folder(path.parent, root, name_of(path)) if path.is_file() else []
    read = next((one for one in beside if one.path == path), None) or read_file(path, root)
    built = _built(read, root, options)
    if isinstance(built, PipelineFile):
        raise built.error or AssertionError(file)
    for dag in built:
        if dag.dag_id == f"{read.name}_{kind}":
            return dag
    raise SpecError(f"{path}: schedule", f"names no DAG {read.name}_{kind}", None, f"set schedule.{kind}")


def check_folder(folder: str | Path, project: str | Path | None = None) -> None:
    """Raises WrongPipelineFiles where pipeline files of a folder are wrong, and names them all.

    It is for a DAG file of its own: Airflow shows its import error, and the DAGs of other files go on.
    """
    if get_parsing_context().dag_id is not None:
        return
    root = Path.cwd() if project is None else Path(project)
    built = [_built(file, root, DEFAULTS) for file in read_folder(root / folder, root)]
    wrong = [file for file in built if isinstance(file, PipelineFile)]
    if wrong:
        raise WrongPipelineFiles(wrong)


def _made(files: list[PipelineFile], project: Path, options: DagOptions) -> dict[str, DAG]:
    """A wrong file takes the name of no right one, and several of one name have the same DAGs, which tell of all."""
    built = [(file.name, _built(file, project, options)) for file in files]
    made = {dag.dag_id: dag for _, dags in built if not isinstance(dags, PipelineFile) for dag in dags}
    right = {name for name, dags in built if not isinstance(dags, PipelineFile)}
    wrong: dict[str, list[PipelineFile]] = {}
    for name, file in built:
        if isinstance(file, PipelineFile) and name not in right:
            wrong.setdefault(name, []).append(file)
    return made | {dag.dag_id: dag for name, same in wrong.items() for dag in wrong_dags(name, same, options)}


def _built(file: PipelineFile, project: Path, options: DagOptions) -> list[DAG] | PipelineFile:
    """The DAGs of a file, or the file with what is wrong with it: Airflow would refuse all DAGs beside a wrong one."""
    if file.pipeline is None:
        return file
    try:
        dags = dags_of_pipeline(file.pipeline, file.path, project, options)
        for dag in dags:
            dag.validate()  # type: ignore[no-untyped-call]
    except Exception as error:
        rule = f"gives a DAG that Airflow refuses: {type(error).__name__}: {error}"
        return replace(file, pipeline=None, error=SpecError(f"{file.path}:", rule))
    return dags
