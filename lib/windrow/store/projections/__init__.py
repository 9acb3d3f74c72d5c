"""The projections of a stage's journal: `panes`, `current`, `dead_letters` and `ticks`, for people and BI tools."""
