"""What differs between recomputed windows and those that a stage shows, and its commit."""
