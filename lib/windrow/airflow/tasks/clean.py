"""The teardown of a run: what it has staged is deleted, whatever became of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseOperator

from windrow.spec.errors import NotReadable
from windrow.store.delta.location import Lake
from windrow.store.reading.removal import remove_folders


class Clean(BaseOperator):
    """Deletes what a run has left of these stages in the staging area of a lake, without Spark.

    In a lake that only Spark can reach it does nothing: `windrow maintain` deletes it there, later. `run` is the name
    of the run in the lake.
    """

    template_fields = ("run",)

    def __init__(self, *, lake: str, run: str, stages: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self.lake = lake
        self.run = run
        self.stages = frozenset(stages)

    def execute(self, context: Any) -> Any:
        """Delete the folders. Raises whatever the file system raises."""
        place = Lake.of(self.lake).staging(self.run)
        try:
            found = remove_folders(place, lambda name: name.partition("-")[0] in self.stages)
        except NotReadable as error:
            self.log.warning("What is staged stays until it is maintained: %s", error)
        else:
            self.log.info("Deleted of what run %s has staged: %s", self.run, ", ".join(found) or "nothing")
