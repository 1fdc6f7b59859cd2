"""`roost top`, the live terminal view."""
