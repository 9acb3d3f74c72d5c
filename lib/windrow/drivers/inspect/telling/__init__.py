"""What is new in a lake, for whoever is told of it: late rows, what runs have published, what ticks have shown."""
