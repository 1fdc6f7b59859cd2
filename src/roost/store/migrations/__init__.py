"""Alembic's migrations, shipped in the package and run when the server starts."""
