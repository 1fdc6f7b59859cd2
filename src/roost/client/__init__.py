"""Typed Python client of the API."""
