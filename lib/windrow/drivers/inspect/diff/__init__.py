"""On which windows two lakes of a pipeline differ, or two generations of a stage, and by how much."""
