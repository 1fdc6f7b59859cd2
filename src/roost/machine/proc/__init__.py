"""Reading /proc: one process at a time, by identity, never stalled by what a process does.

Nothing here knows of GPUs' owners, jobs or rules; it reads what the kernel says.
"""
