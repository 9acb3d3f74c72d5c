"""Panes as columns: what a firing emits."""
