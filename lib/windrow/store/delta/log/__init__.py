"""The log of a Delta table: its commits, the steps that they are, and how they are put there."""
