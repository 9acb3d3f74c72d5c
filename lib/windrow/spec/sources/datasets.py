"""The names of data sets as lineage has them: a namespace, and a name within it.

Rule: the naming conventions of OpenLineage, https://openlineage.io/docs/spec/naming.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlparse

_SAME_STORE = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "az": "abfss", "azure": "abfss", "adl": "abfss"}
"""Schemes of Hadoop's clients, and those of the stores that they speak with."""


class Dataset(NamedTuple):
    """What has rows: a folder, a table, a topic."""

    namespace: str
    name: str


def dataset_at(path: str) -> Dataset:
    """That of a path or URI. Nothing that signs in is part of it."""
    uri = urlparse(path) if "://" in path or path.startswith("file:") else None
    if uri is None:
        return Dataset("file", str(Path(path).absolute()))
    if uri.scheme == "file":
        return Dataset("file", unquote(uri.path).rstrip("/") or "/")
    scheme = _SAME_STORE.get(uri.scheme.lower(), uri.scheme.lower())
    host = uri.netloc if scheme == "abfss" else uri.netloc.rpartition("@")[2]
    name = uri.path.strip("/") or "/"
    return Dataset(f"{scheme}://{host}", f"/{name}" if scheme == "hdfs" and name != "/" else name)
