"""What a tick does for each family of windows."""
