"""Stages: what is computed over which elements, and what a stage may read."""
