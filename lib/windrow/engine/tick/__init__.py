"""One tick: elements and cells in, transitions and dead letters out."""
