"""How the fields of a specification are read, checked and written."""
