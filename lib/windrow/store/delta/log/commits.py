"""What a commit says of itself: the step that it is, and who wrote it.

Both are in its `userMetadata`; a commit without is maintenance, or somebody else's. Delta removes old commits, that of
the newest step too where only maintenance has written since. So a commit of maintenance repeats what the newest step
has said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from windrow.store.delta.location import STANDING

if TYPE_CHECKING:  # who only reads has no Spark
    from windrow.store.delta.log.commit_files import CommitFiles

Notes = Mapping[str, Any]
"""What a commit says beside its step and writer, as plain values."""


@dataclass(frozen=True)
class Commit:
    """One commit of a log that carries a step."""

    step: int
    writer: str
    version: int
    notes: Notes

    @classmethod
    def of(cls, version: int, metadata: str | None) -> Commit | None:
        """From the user metadata of a version; None where that is no step."""
        said = said_in(metadata)
        return cls._from(version, said) if is_of_step(said) else None

    @classmethod
    def repeated(cls, version: int, metadata: str | None) -> Commit | None:
        """The step which a commit that is none repeats; None where it does not."""
        said = repeated_in(said_in(metadata))
        return cls._from(version, said) if said else None

    @classmethod
    def _from(cls, version: int, said: Mapping[str, Any]) -> Commit:
        notes = dict(said)
        return cls(notes.pop("step"), notes.pop("writer"), version, notes)


def is_step(metadata: str | None) -> bool:
    """Whether a commit with that metadata is a step."""
    return is_of_step(said_in(metadata))


def repeating(commits: CommitFiles) -> str:
    """The `userMetadata` of the next commit, if that is to be no step; empty where the log has none."""
    _, metadata = newest_step(commits) or (-1, "")
    return json.dumps({STANDING: json.loads(metadata)}) if is_step(metadata) else metadata


def newest_step(commits: CommitFiles) -> tuple[int, str] | None:
    """(version, user metadata) of the commit of the newest step; where that is gone, of the newest that repeats it."""
    repeats: list[tuple[int, int, str]] = []
    for version in reversed(commits.versions()):
        metadata = commits.metadata(version) or ""
        if is_step(metadata):
            return version, metadata
        if (found := Commit.repeated(version, metadata)) is not None:
            repeats.append((found.step, version, metadata))
    return max(repeats)[1:] if repeats else None


def is_of_step(said: Mapping[str, Any]) -> bool:
    """Whether that is what a step says; somebody else may say anything."""
    return isinstance(said.get("step"), int) and isinstance(said.get("writer"), str)


def repeated_in(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the step has said that is repeated there; nothing without one."""
    repeated = said.get(STANDING)
    return repeated if isinstance(repeated, Mapping) and is_of_step(repeated) else {}


def said_in(metadata: str | None) -> dict[str, Any]:
    """What stands in the user metadata of a commit; nothing where that is a text of somebody else."""
    if not metadata or not metadata.startswith("{"):
        return {}
    try:
        said: dict[str, Any] = json.loads(metadata)
    except ValueError:
        return {}
    return said
