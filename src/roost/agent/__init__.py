"""The root half: a closed list of operations on this machine, and the supervisors of jobs."""
