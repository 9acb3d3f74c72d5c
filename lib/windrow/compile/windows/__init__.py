"""Window functions as columns. One file for each family."""
