"""The names of the columns that frames carry between the steps of a tick.

| prefix | what |
|---|---|
| `x_` | an aggregate's argument, over an element |
| `p_` | a part of an aggregate over this tick's elements |
| `y_`, `q_` | the argument, and a part, of what a trigger node aggregates over this tick's elements |
| `w_` | a result, a key or a derived column, as a condition over results reads it |
| `s_` | a field of the cell's state before the tick |
| `a_` | a part of an aggregate after the tick's elements were added |
| `v_` | the value of an aggregate |
| `t<i>_` | something of the trigger node number i |
"""

KEY = "key"
EVENT_TIME = "event_time"
WINDOW_START = "window_start"
WINDOW_END = "window_end"
SLICE = "_slice"
"""What tells a slice of window time from the others."""
WINDOW_ID = "_window_id"
"""What tells a window from the others."""
SHIFT = "_shift"
"""How far the windows of the element's key are shifted."""
GAP = "_gap"
"""The gap of an element of a session, in microseconds, where the element gives it."""
WINDOWS = "_windows"
"""The windows of an element, where a class of the user's own gives them."""
ELEMENTS = "elements"
"""The number of elements of this tick in a cell."""
INPUT = "_input"
"""The input of an element, where a stage has several."""
WEIGHT = "weight"
"""Of an element of a weighted source: +1, or -1 where it takes one back."""
NET = "net_elements"
"""The weights of this tick's elements in a cell, added up; only over a weighted source."""
AHEAD = "q_ahead"
"""The event time of an element that is not behind the stage's output watermark, and the earliest or latest of those."""
NEW = "new"
"""The number of a cell's elements that no pane has carried yet."""

STATE = "state"
"""The state of a cell, a struct."""
PANES = "panes"
"""What a tick has emitted for a cell."""
ONE_PANE, EMITS = "one_pane", "emits"
"""In place of these, where a tick emits one pane at most for each cell: the pane, and whether it is emitted."""
EXPIRED, OPENED = "expired", "opened"
"""Whether a cell ended, or began, with a tick."""
AWAY = "away"
"""The cells that a tick has merged into another: bounds, and the retraction of the last pane of each, if it stands."""

CELL = (KEY, WINDOW_START, WINDOW_END)
"""What identifies a cell."""
