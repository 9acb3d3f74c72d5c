"""What a name means to the JVM is asked once.

py4j asks at every use, and the JVM then looks through all jars, as the name may be a class of each package that PySpark
has imported as a whole: one or two milliseconds for `_jvm.org` or `_jvm.PythonUtils`, and a tick has many of them.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView
from pyspark.sql import SparkSession


class _Caching:
    """Keeps the packages, classes and methods that it has been asked for; fields may change, and are asked again."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)  # type: ignore[misc]
        kind = _KINDS.get(type(found))
        if kind is not None:
            found.__class__ = kind
            vars(self)[name] = found
        return found


class _Names(_Caching, JVMView):  # type: ignore[misc]
    pass


class _Package(_Caching, JavaPackage):  # type: ignore[misc]
    pass


class _Class(_Caching, JavaClass):  # type: ignore[misc]
    pass


_KINDS: dict[type, type] = {JavaPackage: _Package, JavaClass: _Class, JavaMember: JavaMember}


def cache_names(spark: SparkSession) -> None:
    """Let the session's JVM, and all sessions in it, be asked for each name once."""
    jvm: Any = spark._jvm
    if type(jvm) is JVMView:
        jvm.__class__ = _Names
