"""Environments of Python: their names, what is in them, and whether a driver can run it. Pure."""
