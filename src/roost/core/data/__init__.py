"""Registered data sets and models: their names and manifests."""
