"""Tables, migrations, queries. The database is the truth."""
