"""Message catalogues: one module an area, both languages in it."""
