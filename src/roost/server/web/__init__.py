"""The page's side of the server: its listener and door, who was let in, the page's files."""
