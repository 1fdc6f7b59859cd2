"""Accounts: what is wanted of them, what there is, and the steps between. Pure."""
