"""What extensions import: windows, triggers and aggregates of your own, as classes that pipeline files may name.

`sql` has the functions from which columns are put together: they are texts of Spark SQL, and times are bigint
microseconds. A class becomes a name of the pipeline file by `register`.
"""

from __future__ import annotations

from windrow.compile.aggregates.custom import CustomAggregate as CustomAggregate
from windrow.compile.aggregates.custom import PythonAggregate as PythonAggregate
from windrow.compile.aggregates.parts import Argument as Argument
from windrow.compile.aggregates.parts import Part as Part
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column as Column
from windrow.compile.windows.custom import NO_WINDOWS as NO_WINDOWS
from windrow.compile.windows.custom import CustomWindows as CustomWindows
from windrow.compile.windows.custom import window as window
from windrow.spec.aggregates import Aggregate as Aggregate
from windrow.spec.errors import SpecError as SpecError
from windrow.spec.expressions import Expression as Expression
from windrow.spec.extensions import register as register
from windrow.spec.fields.kinds import DURATION as DURATION
from windrow.spec.fields.kinds import EXPRESSION as EXPRESSION
from windrow.spec.fields.kinds import POSITIVE_DURATION as POSITIVE_DURATION
from windrow.spec.fields.kinds import POSITIVE_INTEGER as POSITIVE_INTEGER
from windrow.spec.fields.reading import of as of
from windrow.spec.times import DAY as DAY
from windrow.spec.times import HOUR as HOUR
from windrow.spec.times import MINUTE as MINUTE
from windrow.spec.times import SECOND as SECOND
from windrow.spec.triggers.base import Trigger as Trigger
from windrow.spec.triggers.custom import CustomTrigger as CustomTrigger
from windrow.spec.triggers.domains import Domain as Domain
from windrow.spec.triggers.moments import Moment as Moment

__all__ = [
    "DAY", "DURATION", "EXPRESSION", "HOUR", "MINUTE", "NO_WINDOWS", "POSITIVE_DURATION", "POSITIVE_INTEGER", "SECOND",
    "Aggregate", "Argument", "Column", "CustomAggregate", "CustomTrigger", "CustomWindows", "Domain", "Expression",
    "Moment", "Part", "PythonAggregate", "SpecError", "Trigger", "of", "register", "sql", "window",
]  # fmt: skip
