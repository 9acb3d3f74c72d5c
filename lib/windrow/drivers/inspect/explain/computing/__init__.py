"""What a window should have shown, computed from its rows, and compared with what it has shown."""
