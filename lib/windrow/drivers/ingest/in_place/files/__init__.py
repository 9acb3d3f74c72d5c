"""Files that stay where they are: a landing step is a list of them."""
