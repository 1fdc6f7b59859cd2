"""What of a notice is said, and when: no I/O, no clock."""
