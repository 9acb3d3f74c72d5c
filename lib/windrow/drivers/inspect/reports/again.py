"""The pages that are in a folder, written again from what the tables have now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from windrow.drivers.inspect.reports.pages import page_name, write_index, write_report
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import parse_time
from windrow.store.delta.file_system import folder as files_in
from windrow.store.delta.file_system import read_text

_PAGE, _BESIDE = ".html", ".json"


@dataclass(frozen=True)
class PagesAgain:
    """The pages that were `written` again, and those that are `left` as they were, which nobody can make again."""

    written: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def write_again(pipeline: Pipeline, spark: SparkSession, folders: Sequence[str], typed: str = "FILE") -> PagesAgain:
    """Write every page of a pipeline's runs in these folders again, with what is beside it, and the page of all runs.

    A folder is a path, or a URI of what Spark reads. A page is known by the JSON beside it, which says whose it is, and
    over which windows. Errors: OSError where it cannot be written.
    """
    written, left = [], []
    simulations = {f"{pipeline.pipeline}-{stage.name}-simulate{_PAGE}" for stage in pipeline.stages}
    for folder in folders:
        places = _Folder(spark, folder.rstrip("/") or folder)
        for name in places.names():
            page = places.path(name)
            if name == page_name(pipeline.pipeline, "index"):
                written.append(write_index(pipeline, spark, page))
            elif name in simulations:
                left.append(page)
            elif (made := places.report(name)) is not None and made.get("pipeline") == pipeline.pipeline:
                try:
                    written.append(_written(pipeline, spark, page, made, typed))
                except SpecError:
                    left.append(page)
    return PagesAgain(tuple(written), tuple(left))


def _written(pipeline: Pipeline, spark: SparkSession, page: str, made: Mapping[str, Any], typed: str) -> str:
    start, end = (None if (text := made.get(name)) is None else parse_time(text) for name in ("start", "end"))
    return write_report(pipeline, spark, str(made.get("run")), start, end, page, typed, made.get("link"))


@dataclass(frozen=True)
class _Folder:
    """One without a scheme is of this machine, as it is where a page is written."""

    spark: SparkSession
    root: str

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def names(self) -> list[str]:
        """The pages in it."""
        return sorted(name for name in self._all() if name.endswith(_PAGE))

    def report(self, name: str) -> Mapping[str, Any] | None:
        """What the JSON beside a page says; None where it is not that of a report."""
        text = self._text(f"{name.removesuffix(_PAGE)}{_BESIDE}")
        try:
            made = None if text is None else json.loads(text)
        except ValueError:
            return None
        return made if isinstance(made, dict) and {"pipeline", "run", "balances"} <= made.keys() else None

    def _all(self) -> Iterator[str]:
        if "://" in self.root:
            yield from files_in(self.spark, self.root).names()
        elif Path(self.root).is_dir():
            yield from (path.name for path in Path(self.root).iterdir())

    def _text(self, name: str) -> str | None:
        if "://" in self.root:
            return read_text(self.spark, self.path(name))
        path = Path(self.path(name))
        return path.read_text(encoding="utf-8") if path.is_file() else None
