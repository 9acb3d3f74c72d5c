"""Values as HTML, for notebooks."""
