"""Which windows a batch is asked for, which of them have expired, and what holds the others back."""
