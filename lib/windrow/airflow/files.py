"""The pipeline files of a folder, each read by itself: a wrong one is told of, and takes no other away."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from airflow.sdk import CronDataIntervalTimetable
from airflow.sdk.exceptions import AirflowTimetableInvalid
from croniter import CroniterError, croniter  # type: ignore[import-untyped]

from windrow.spec.errors import SpecError, WindrowError
from windrow.spec.fields.reading import located
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.pipelines.loading import load
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule

SUFFIXES = frozenset({".yaml", ".yml"})
_NAME = re.compile(r"""^pipeline:[ \t]*(["']?)([\w.-]+)\1[ \t]*(#.*)?$""", re.MULTILINE)
"""The name of a pipeline, wherever else its file is wrong."""
_BEGINNING = ("cron", "start")
"""The fields of a schedule that are there together; others may need them."""
_NOT_IN_A_NAME = re.compile(r"[^\w.-]")


@dataclass(frozen=True)
class PipelineFile:
    """A pipeline file: its pipeline, or what is wrong with it.

    `name` is that of the pipeline as far as it can be read; else that of the file.
    """

    path: Path
    name: str
    pipeline: Pipeline | None = None
    error: WindrowError | None = None

    @property
    def words(self) -> str:
        """What is wrong, with the file in front: the error may be one of another file that it names."""
        text = str(self.error)
        return text if str(self.path) in text else f"{self.path}: {text}"


def read_folder(folder: Path, project: Path | None, only: str | None = None) -> list[PipelineFile]:
    """The pipeline files of a folder, by path; those of the name `only`, where one has it.

    Two files of one name are both wrong. Raises SpecError where there is no such folder.
    """
    names = {path: name_of(path) for path in _files(folder)}
    if only in names.values():
        names = {path: name for path, name in names.items() if name == only}
    return _told_apart([read_file(path, project) for path in names])


def read_file(path: Path, project: Path | None) -> PipelineFile:
    """A pipeline file by itself."""
    try:
        pipeline = load(path, project=project)
        if pipeline.schedule is not None:
            located(f"{path}: schedule", check_crons, pipeline.schedule)
    except WindrowError as error:
        return PipelineFile(path, name_of(path), error=error)
    except Exception as error:  # whatever it is, the other files are read
        wrong = SpecError(f"{path}:", f"cannot be read: {type(error).__name__}: {error}")
        return PipelineFile(path, name_of(path), error=wrong)
    return PipelineFile(path, pipeline.pipeline, pipeline)


def name_of(path: Path) -> str:
    """The name that a file gives to its pipeline, whatever else stands in it; without one, that of the file."""
    try:
        found = _NAME.search(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        found = None
    return found[2] if found else _NOT_IN_A_NAME.sub("_", path.stem)


def schedule_of(path: Path) -> Schedule | None:
    """The schedule of a file that is wrong: those of its fields that are right. None where there is none to read."""
    try:
        given: Any = load_yaml(path.read_text(encoding="utf-8"))["schedule"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if not isinstance(given, Mapping):
        return None
    found = Schedule()
    kept: dict[str, Any] = {}
    for fields in (_BEGINNING, *((name,) for name in given if name not in _BEGINNING)):
        more = {**kept, **{name: given[name] for name in fields if name in given}}
        with suppress(ValueError, TypeError):
            schedule = Schedule.from_mapping(more)
            check_crons(schedule)
            found, kept = schedule, more
    return found


def check_crons(schedule: Schedule) -> None:
    """Raises SpecError where Airflow takes a cron expression not, or finds no time of it: it would stop at that DAG."""
    for name, text in schedule.crons.items():
        try:
            CronDataIntervalTimetable(text, timezone=schedule.zone).validate()
            croniter(text).get_prev()
        except (AirflowTimetableInvalid, CroniterError) as error:
            raise SpecError(name, f"is no cron expression: {error}", text) from error


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise SpecError("", "the folder of the pipeline files is not there", str(folder))
    found = (path for path in folder.iterdir() if path.suffix in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in found if path.is_file())


def _told_apart(files: Sequence[PipelineFile]) -> list[PipelineFile]:
    """The same files, where those that are right and share a name are wrong."""
    same: dict[str, list[PipelineFile]] = defaultdict(list)
    for file in files:
        if file.error is None:
            same[file.name].append(file)
    return [_alone(file, [other for other in same[file.name] if other is not file]) for file in files]


def _alone(file: PipelineFile, others: Sequence[PipelineFile]) -> PipelineFile:
    if file.error is not None or not others:
        return file
    rule = f"is the name of another pipeline too, in {', '.join(str(other.path) for other in others)}"
    error = SpecError(f"{file.path}: pipeline", rule, file.name, "rename one: until then none of them runs")
    return replace(file, pipeline=None, error=error)
