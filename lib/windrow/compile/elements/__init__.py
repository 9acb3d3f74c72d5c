"""Rows as elements of a stage."""
