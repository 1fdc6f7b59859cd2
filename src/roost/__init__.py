"""Roost lets a team share GPU servers: who uses what, a queue with rules, a fair bill."""

__version__ = "0.1.0"
