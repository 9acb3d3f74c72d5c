"""Where commits can be put so that one of two writers has a version: what a lake may be on.

Delta chooses who puts a commit by the scheme of the path. HDFS and Azure rename a file only where there is none, and
Google Cloud makes one only there. On S3 the default of Delta overwrites what another driver has put, on a local disk it
looks and renames later, and for a scheme that it does not know it takes what is right for HDFS. Everything rests on
commits, so such a lake is refused.

Source: https://docs.delta.io/latest/delta-storage.html
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from windrow.spec.errors import SpecError
from windrow.store.delta.file_system import hadoop, local_path
from windrow.store.delta.location import S3

LOG_STORE = "windrow.ConditionalLogStore"
"""Puts commits on object stores that make an object only where there is none. `make setup EXTRA=s3` makes it."""

LOCAL = "file"
LINKING = "windrow.LinkingLogStore"
"""Puts commits on a local disk, where an object is made by a hard link only where there is none. `make setup` makes
it."""

RENAMING = frozenset({"hdfs", "abfs", "abfss", "adl", "wasb", "wasbs", "gs"})
"""Schemes for which Delta's own choice is right."""
MOUNTS = "viewfs"
"""The scheme of mounts, which may lead anywhere: whoever has mounted it says who puts commits there."""
_HINT_OF_MOUNTS = f"where it leads to HDFS, --conf spark.delta.logStore.{MOUNTS}.impl=io.delta.storage.HDFSLogStore"

_HINT_OF_LOCAL = (
    f"windrow.local_session(); in a session of your own the jars of .venv/windrow-jars, and, when it starts, "
    f"spark.delta.logStore.{LOCAL}.impl={LINKING}"
)

_OF_DELTA = re.compile(r"(?:io\.delta|org\.apache\.spark\.sql\.delta)\.storage\.(?!S3Dynamo)\w+")
"""Of its log stores only one is right on S3, and none on a local disk. `GCSLogStore` is not, though it makes a file
that is to overwrite nothing: S3A looks whether there is one then, and puts it later in any case."""
_IN_PLACE = re.compile(r"(?:io\.delta|org\.apache\.spark\.sql\.delta)\.storage\.(?:S3SingleDriver|GCS)LogStore")
"""Those that write a commit under its name: where a file is there before it is whole, others read a half of it."""
_CONDITIONAL = "fs.option.create.conditional.overwrite"
_RULE = "must be where one of two drivers has a commit and the other one hears of it"
_TRIAL = "_windrow/put-if-absent"
"""The object of a lake that nobody can put any more."""
_TRIED: set[str] = set()
"""The lakes on which it was tried."""


def check_put_if_absent(spark: SparkSession, lake: str) -> str:
    """Refuse a lake on which two drivers would overwrite each other's commits; the scheme of any other one.

    Errors: SpecError.
    """
    folder = local_path(spark, lake)
    if folder is not None:
        return _check_local(spark, lake, folder)
    scheme = _scheme(spark, lake)
    store = _log_store(spark, scheme)
    if store is not None and scheme in {MOUNTS, *RENAMING} - {"gs"} and _IN_PLACE.fullmatch(store):
        rule = f"{_RULE}: on {scheme}:// {store.rpartition('.')[2]} shows a commit before it is whole"
        right = "leave out spark.delta.logStore: Delta's own choice is right there"
        raise SpecError("lake", rule, lake, _HINT_OF_MOUNTS if scheme == MOUNTS else right)
    if store == LOG_STORE:
        _check_conditional(spark, lake, scheme)
    elif scheme == MOUNTS:
        if store is None:
            raise SpecError("lake", f"{_RULE}: {MOUNTS}:// may lead to any file system", lake, _HINT_OF_MOUNTS)
    elif scheme not in RENAMING and (store is None or _OF_DELTA.fullmatch(store)):
        rule = f"{_RULE}: on {scheme}:// Delta overwrites what another has put"
        raise SpecError("lake", rule, lake, _hint_of(scheme))
    return scheme


def _check_local(spark: SparkSession, lake: str, folder: Path) -> str:
    """Raises SpecError where commits on a local disk are not put by hard links, or a class of the user's."""
    store = _log_store(spark, LOCAL)
    if store is None or _OF_DELTA.fullmatch(store):
        rule = f"{_RULE}: on a local disk Delta looks whether there is a commit, and puts another in its place later"
        raise SpecError("lake", rule, lake, _HINT_OF_LOCAL)
    if store == LINKING and lake not in _TRIED:
        _check_links(lake, folder)
        _TRIED.add(lake)
    return LOCAL


def _check_links(lake: str, folder: Path) -> None:
    """Make a hard link in the folder, or in the one where it will be. Raises SpecError where none can be made."""
    there = next(one for one in (folder, *folder.parents) if one.is_dir())
    made, link = there / f".{uuid4().hex}.tmp", there / f".{uuid4().hex}.tmp"
    try:
        made.touch(exist_ok=False)
    except OSError:
        return  # whoever may not write there hears so when something is written
    try:
        os.link(made, link)
    except OSError as error:
        rule = f"{_RULE}: this file system makes no hard links ({error.strerror or error})"
        raise SpecError("lake", rule, lake, "another disk, HDFS or an object store") from None
    finally:
        for one in (made, link):
            one.unlink(missing_ok=True)


def _check_conditional(spark: SparkSession, lake: str, scheme: str) -> None:
    """Raises SpecError where the file system, or the store, does not put an object only where there is none."""
    try:
        files, place = hadoop(spark, lake)
        if files.hasPathCapability(place, _CONDITIONAL):
            return _check_store(spark, lake)
    except Py4JJavaError as error:
        if "ClassNotFound" not in str(error) and "UnsupportedFileSystem" not in str(error):
            raise
        raise SpecError("lake", f"cannot be reached: no jar has the file system of {scheme}://", lake, _SETUP) from None
    rule = f"{_RULE}: the file system of {scheme}:// puts no object only where there is none"
    hint = "fs.s3a.create.conditional.enabled must be true, and hadoop-aws 3.4.2 or later"
    raise SpecError("lake", rule, lake, hint)


def _check_store(spark: SparkSession, lake: str) -> None:
    """Put one object a second time, once in a process: a store that does not know the condition would take it.

    Raises SpecError.
    """
    if lake in _TRIED:
        return
    java: Any = spark._jvm
    if not java.org.apache.spark.util.Utils.classIsLoadable(LOG_STORE):
        raise SpecError("lake", f"cannot be written: no jar has {LOG_STORE}", lake, _SETUP)
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    store, place = java.windrow.ConditionalLogStore(conf), java.org.apache.hadoop.fs.Path(f"{lake}/{_TRIAL}")
    for _ in range(2):
        content = java.java.util.ArrayList()
        content.add(uuid4().hex)
        try:
            store.write(place, content.iterator(), False, conf)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getSimpleName() != "FileAlreadyExistsException":
                raise
            _TRIED.add(lake)
            return
    rule = f"{_RULE}: the store takes an object that must be the first, though there is one (If-None-Match)"
    raise SpecError("lake", rule, lake, "another store, or a version of it that knows If-None-Match of PutObject")


def _scheme(spark: SparkSession, path: str) -> str:
    """That of a path, or that of the file system that Hadoop takes it for."""
    java: Any = spark._jvm
    found = java.org.apache.hadoop.fs.Path(path).toUri().getScheme()
    return str(found or hadoop(spark, path)[0].getUri().getScheme()).lower()


def _log_store(spark: SparkSession, scheme: str) -> str | None:
    """The class that the user, or windrow, has named to put commits; None where Delta chooses."""
    java: Any = spark.sparkContext._jsc
    conf = java.sc().conf()
    for name in ("spark.delta.logStore.class", f"spark.delta.logStore.{scheme}.impl"):
        if conf.contains(name):
            return str(conf.get(name))
    return None


_SETUP = (
    "make setup EXTRA=s3, and windrow.local_session(s3=True); of spark-submit, --jars with what that leaves in "
    ".venv/windrow-jars/s3 and log-store"
)


def _hint_of(scheme: str) -> str:
    if scheme in S3:
        return f"{_SETUP}, and --conf spark.delta.logStore.{scheme}.impl={LOG_STORE}"
    setting = f"--conf spark.delta.logStore.{scheme}.impl=CLASS"
    return f"name a log store that puts commits only where there is none: {setting}"
