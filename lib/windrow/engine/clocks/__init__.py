"""The clocks of a stage."""
