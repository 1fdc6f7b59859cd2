"""The scheduler: a state machine without I/O. Events in, decisions out."""
