"""Brings notices to the people they are for."""
