"""What a specification means: windows, aggregates, triggers and panes as Spark column expressions.

No action and no input or output: functions from columns to columns. All times are bigint microseconds.
"""
