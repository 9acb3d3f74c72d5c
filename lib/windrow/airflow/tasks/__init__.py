"""The tasks of a DAG, their jobs, and the trigger that waits for them."""
