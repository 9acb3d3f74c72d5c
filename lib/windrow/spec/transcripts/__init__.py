"""Transcripts: what a stage is shown tick by tick, and what is expected of it."""
