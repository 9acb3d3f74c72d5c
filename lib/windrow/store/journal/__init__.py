"""The journal of a stage, and what else the drivers keep."""
