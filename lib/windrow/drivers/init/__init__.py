"""A first pipeline from a reader's own CSV: what its columns are, and what a stage over them may look like."""
