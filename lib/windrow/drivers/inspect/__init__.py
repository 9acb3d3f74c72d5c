"""What a pipeline did and where it stands."""
