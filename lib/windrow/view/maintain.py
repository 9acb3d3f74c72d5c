"""What maintenance did, as a table and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

from windrow.view.text.table import table


class Sized(Protocol):
    """Live files, and all data files in the folder with their bytes."""

    @property
    def files(self) -> int: ...
    @property
    def on_disk(self) -> int: ...
    @property
    def bytes(self) -> int: ...


class Kept(Protocol):
    """One table before and after."""

    @property
    def table(self) -> str: ...
    @property
    def before(self) -> Sized: ...
    @property
    def after(self) -> Sized: ...
    @property
    def versions_removed(self) -> int: ...
    @property
    def notes(self) -> Sequence[str]: ...


def maintained_text(results: Sequence[Kept], width: int) -> str:
    """A line a table; live files and bytes on disk, before and after."""
    if not results:
        return "no tables yet"
    names = ["table", "files", "on disk", "bytes", "versions removed", ""]
    return table(names, [_row(result) for result in results], width)


def _row(result: Kept) -> list[str]:
    before, after = result.before, result.after
    return [
        result.table,
        _change(f"{before.files:,}", f"{after.files:,}"),
        _change(f"{before.on_disk:,}", f"{after.on_disk:,}"),
        _change(size(before.bytes), size(after.bytes)),
        f"{result.versions_removed:,}",
        "; ".join(result.notes),
    ]


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def size(number: int) -> str:
    """Bytes in the largest unit that leaves at least one: `1.2 MB`."""
    amount, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{number} B" if unit == "B" else f"{amount:.1f} {unit}"


def maintained_mapping(results: Sequence[Any]) -> list[dict[str, Any]]:
    """The same for machines."""
    return [asdict(result) for result in results]
