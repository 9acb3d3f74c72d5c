"""The lineage of a pipeline: its jobs from the specification, its runs from what their steps have recorded."""
