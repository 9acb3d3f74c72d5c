"""A pipeline opened on its lake, and the runner of its stages."""
