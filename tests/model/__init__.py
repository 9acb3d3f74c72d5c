"""The reference model: docs/semantics.md in plain Python, element by element, written from it and not from the engine.

    from tests.model.stream import Stream            # a stage that ticks, with cells, clock and watermark between ticks
    stream = Stream(stage, schema, watermark=None)   # spec.Stage, {column: type}, spec.Watermark or None (it is given)
    result = stream.tick(elements, now=..., watermark=...)
    result.panes, result.dead, result.counts, result.clock, result.cells, result.state

    from tests.model.batch import batch              # one tick with the watermark at +infinity over all elements
    batch(stage, schema, elements).panes

    from tests.model.table import current, results   # what all panes of a run leave; its aggregates by key and window
    from tests.model.transcripts import check        # a transcript's Case: what is wrong with it, as messages

An element is `windrow.spec.transcripts.cases.TranscriptElement(at, partition, columns)`. `Pane.row()` and
`DeadLetter.row()` are flat dicts, as `windrow.testing.matching` compares them. `tests.laws.strategies` makes random
stages, elements, ticks.

One file is one idea: `assign` windows; `elements` reads them (dead, filtered, kept) over `expressions`; `clock` and its
watermark generator; `trigger_leaves` and `triggers` are the state machines, `periods` their calendar; `aggregates`;
`cells`, `firing`, `panes`; `merge` is what sessions do to cells, `records` which record windows there are; `state` is
all that is kept; and `tick`, the transition `(state, elements, clock) -> (state, panes, dead, counts)`. `chain` runs
stages that read each other (`pane_elements`, `input_clocks`), also with several inputs (`cogroup`, `join`).
"""
