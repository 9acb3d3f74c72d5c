"""Delta tables as logs: versions, transactions, files."""
