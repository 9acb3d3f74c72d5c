"""A pipeline watched: looks at its lake, one after the other, and the page that shows the newest."""
