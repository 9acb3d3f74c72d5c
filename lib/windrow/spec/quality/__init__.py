"""Quality suites, their expectations, and what a gate found."""
