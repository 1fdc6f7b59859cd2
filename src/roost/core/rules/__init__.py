"""The rules file: its words, defaults, and what is wrong with it."""
