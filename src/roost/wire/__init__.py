"""Messages between server and agent."""
