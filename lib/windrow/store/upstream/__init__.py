"""What a stage reads."""
