"""Window functions: which windows an element falls in. One file for each family."""
