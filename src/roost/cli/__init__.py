"""What people type. Imports are lazy: a command must not feel like Python starting."""
