"""One file a change of the schema, oldest first by number. A released one is never edited."""
