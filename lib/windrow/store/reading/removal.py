"""Folders are deleted without Spark, where what reads tables without it can delete too."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

from windrow.spec.errors import NotReadable
from windrow.store.delta.location import Location
from windrow.store.reading.arrow import SCHEMES, folder_of


def remove_folders(location: Location, chosen: Callable[[str], bool]) -> list[str]:
    """Delete the folders in a folder whose names are chosen, with all that is in them; their names.

    On a disk the folder itself goes too when nothing is left in it. Raises NotReadable for a place that only Spark
    knows.
    """
    folder = folder_of(location.path)
    return _in_store(location.path, chosen) if folder is None else _on_disk(folder, chosen)


def _on_disk(folder: Path, chosen: Callable[[str], bool]) -> list[str]:
    if not folder.is_dir():
        return []
    found = sorted(path for path in folder.iterdir() if path.is_dir() and chosen(path.name))
    for path in found:
        shutil.rmtree(path)
    if not any(folder.iterdir()):
        folder.rmdir()
    return [path.name for path in found]


def _in_store(path: str, chosen: Callable[[str], bool]) -> list[str]:
    if urlparse(path).scheme not in SCHEMES:
        raise NotReadable("the lake", "is in no place where folders can be deleted without Spark", path)
    from deltalake.fs import DeltaStorageHandler
    from pyarrow import fs  # type: ignore[import-untyped]

    store = fs.PyFileSystem(DeltaStorageHandler(path))
    files = store.get_file_info(fs.FileSelector("", allow_not_found=True))
    names = sorted(one.path.rstrip("/").rpartition("/")[2] for one in files if one.type == fs.FileType.Directory)
    found = [name for name in names if chosen(name)]
    for name in found:
        store.delete_dir(name)
    return found
