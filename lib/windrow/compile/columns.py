"""The names of the columns that frames carry between the steps of a tick.

| prefix | what |
|---|---|
| `x_` | an aggregate's argument, over an element |
| `p_` | a part of an aggregate over this tick's elements |
| `s_` | a field of the cell's state before the tick |
| `a_` | a part of an aggregate after the tick's elements were added |
| `v_` | the value of an aggregate |
| `k_`, `d_` | a key and a derived column, as `having` sees them |
| `t<i>_` | something of the trigger node number i |
"""

KEY = "key"
EVENT_TIME = "event_time"
WINDOW_START = "window_start"
WINDOW_END = "window_end"
ELEMENTS = "elements"
"""The number of elements of this tick in a cell."""

CELL = (KEY, WINDOW_START, WINDOW_END)
"""What identifies a cell."""
