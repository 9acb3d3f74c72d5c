"""Triggers as columns."""
