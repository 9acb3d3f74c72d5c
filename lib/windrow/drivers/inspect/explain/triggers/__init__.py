"""The trigger of one window, followed tick by tick in plain Python: what it knew, and what it waited for."""
