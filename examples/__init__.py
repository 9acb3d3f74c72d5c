"""Pipelines in Python, each on one page, from the public names of `windrow` alone."""
