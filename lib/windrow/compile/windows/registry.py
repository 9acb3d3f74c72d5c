"""Which class computes which window function."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.windows.aligned import AlignedWindows, GlobalWindows, OverlappingWindows
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.by_key import CompiledByKey
from windrow.compile.windows.calendar import CompiledCalendar
from windrow.compile.windows.cumulative import CompiledCumulative
from windrow.compile.windows.custom import CustomWindows, compile_custom
from windrow.compile.windows.records import CompiledRecords
from windrow.compile.windows.sessions import CompiledSessions
from windrow.spec.windows.aligned import (
    CalendarWindows,
    CumulativeWindows,
    FixedWindows,
    GlobalWindow,
    Phase,
    SlidingWindows,
)
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.inherited import InheritedWindows
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions


def compile_windows(
    window: WindowFunction, kinds: Mapping[str, str] | None = None, inherited: CompiledWindows | None = None
) -> CompiledWindows:
    """The columns of a window function. `kinds` are the types of its expressions, by name.

    `inherited` are those of the panes that the stage reads, if it reads a stage.
    """
    match window:
        case FixedWindows(phase=Phase.BY_KEY):
            return CompiledByKey(window.size, window.offset)
        case FixedWindows():
            return AlignedWindows(window.size, window.size, window.offset)
        case SlidingWindows() if window.period < window.size:
            return OverlappingWindows(window.size, window.period, window.offset)
        case SlidingWindows():
            return AlignedWindows(window.size, window.period, window.offset)
        case CumulativeWindows():
            return CompiledCumulative(window.size, window.step, window.offset)
        case CalendarWindows():
            return CompiledCalendar(window)
        case Sessions():
            return CompiledSessions(window, (kinds or {}).get("gap", ""))
        case RecordWindows():
            return CompiledRecords(window)
        case GlobalWindow():
            return GlobalWindows()
        case CustomWindows():
            return compile_custom(window)
        case InheritedWindows():
            assert inherited is not None, "only a stage that reads a stage can have them"
            return inherited
        case _:
            raise NotImplementedError(type(window).__name__)
